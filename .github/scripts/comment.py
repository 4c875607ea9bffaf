"""Post a schema diff as a comment on the pull request that it is about, or update the comment that is there.

    GH_REPO=owner/name HEAD=owner:branch COMMIT=<sha> python3 comment.py diff.markdown

The file comes from a job that ran the code of the pull request: it is checked, and it cannot mention anybody. Which
pull request it is follows from what GitHub says about that job, not from the file.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

MARKER = "<!-- mindtorch schema diff -->"
NOTHING = "No operator changes"
LIMIT = 65_536
AUTHOR = "github-actions[bot]"


def gh(path: str, *options: str, body: str | None = None) -> Any:
    """The answer of GitHub to a request."""
    sent = None if body is None else json.dumps({"body": body})
    command = ["gh", "api", path, *options, *(["--input", "-"] if sent else [])]
    return json.loads(subprocess.run(command, input=sent, text=True, capture_output=True, check=True).stdout)


def read(path: Path) -> str:
    """The text of the comment; mentions of people are broken, also in code, where they would do nothing."""
    text = re.sub(r"@(?=\w)", "@\u200b", path.read_text(encoding="utf-8"))
    if not text.startswith(MARKER) or len(text) > LIMIT:
        sys.exit(f"{path} is no schema diff: it must begin with {MARKER} and have at most {LIMIT} characters")
    return text


def pull_request(repository: str, head: str, commit: str) -> int | None:
    """The number of the open pull request from a branch, if the commit is still its newest."""
    query = ["--method", "GET", "-f", "state=open", "-f", f"head={head}"]
    found = [each["number"] for each in gh(f"repos/{repository}/pulls", *query) if each["head"]["sha"] == commit]
    return found[0] if found else None


def own_comment(repository: str, number: int) -> int | None:
    """The comment that an earlier run has posted."""
    pages = gh(f"repos/{repository}/issues/{number}/comments", "--paginate", "--slurp")
    comments = [comment for page in pages for comment in page]
    own = [each for each in comments if each["user"]["login"] == AUTHOR and each["body"].startswith(MARKER)]
    return own[0]["id"] if own else None


def post(repository: str, number: int, text: str) -> str:
    """Update the comment or post one; stay silent about a pull request that has nothing to do with operators."""
    comment = own_comment(repository, number)
    if comment is not None:
        gh(f"repos/{repository}/issues/comments/{comment}", "--method", "PATCH", body=text)
        return f"updated the comment on #{number}"
    if NOTHING in text.split("\n", 3)[2]:
        return f"nothing to say on #{number}"
    gh(f"repos/{repository}/issues/{number}/comments", "--method", "POST", body=text)
    return f"commented on #{number}"


def main() -> None:
    text = read(Path(sys.argv[1]))
    repository, head, commit = (os.environ[name] for name in ("GH_REPO", "HEAD", "COMMIT"))
    number = pull_request(repository, head, commit)
    print(f"no open pull request from {head} at {commit}" if number is None else post(repository, number, text))


if __name__ == "__main__":
    main()
