"""CANN's runtime through ctypes: libraries, devices, streams, events, memory, and the launch of ACLNN functions.

Nothing is loaded before a program asks for a device. The modules, lowest first: `libraries`, `codes`, `prototypes`,
`api`, `device`, `stream`, `allocator`, `host_memory`, `copies`, `descriptors`, `launch`.
"""
