"""The records of a zip archive, as its reader and its writer have them."""

import struct

HEADER = struct.Struct("<4s5H3L2H")  # before the bytes of an entry
ENTRY = struct.Struct("<4s6H3L5H2L")  # of the directory
END = struct.Struct("<4s4H2LH")
LOCATOR = struct.Struct("<4sLQL")  # where END_64 begins
END_64 = struct.Struct("<4sQ2H2L4Q")
UTF_8 = 0x800  # the flag of an entry whose name is UTF-8
FULL = 0xFFFFFFFF  # a number of 32 bits that stands for one of 64 elsewhere
