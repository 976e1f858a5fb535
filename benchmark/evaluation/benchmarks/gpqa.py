"""GPQA: text that must not become part of anybody's training data.

Its authors ask that no example appears in plain text online. So it is read from an encrypted file, decrypted in
memory, or from a plain file outside any git repository; errors and logs name item ids and never quote a text.
"""

import os
import subprocess
from hashlib import pbkdf2_hmac
from pathlib import Path
from typing import Final

from benchmark.data.data_files import Row, decode_text, parse_lines, read_data_rows
from benchmark.errors import DataError

PASSWORD_VARIABLE: Final = "VENUS_GPQA_PASSWORD"

PUBLIC_PASSWORD: Final = "gpqa-do-not-publish"
"""Not a secret: it is published beside the shared copy, and is there to keep crawlers out, not readers."""

_MAGIC: Final = b"Salted__"
_ITERATIONS: Final = 10_000  # what `openssl enc -pbkdf2` takes by default


def read_restricted_rows(path: Path) -> list[Row]:
    """Read the rows of an encrypted file (.enc) or of a plain one outside any git repository.

    Raises DataError for a wrong password, and for a plain file inside a repository.
    """
    if path.suffix == ".enc":
        password = os.environ.get(PASSWORD_VARIABLE, PUBLIC_PASSWORD)
        return parse_lines(decode_text(decrypt(path.read_bytes(), password, path.name), path.name), path.name)
    if any((folder / ".git").exists() for folder in path.resolve().parents):
        raise DataError(
            f"plain text of a restricted benchmark inside a git repository: found {path.name}, allowed an encrypted "
            "file or one outside; fix: move it out, or encrypt it with `openssl enc -aes-256-cbc -pbkdf2`"
        )
    return read_data_rows(path)


def decrypt(content: bytes, password: str, name: str) -> bytes:
    """Decrypt what `openssl enc -aes-256-cbc -pbkdf2` wrote, in memory.

    Raises DataError where the password is wrong or the file is damaged.
    """
    if not content.startswith(_MAGIC) or len(content) % 16:
        raise DataError(f"{name} was not written by `openssl enc -aes-256-cbc -pbkdf2`; fix: encrypt it that way")
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        return _decrypt_with_openssl(content, password, name)
    derived = pbkdf2_hmac("sha256", password.encode(), content[8:16], _ITERATIONS, dklen=48)
    decryptor = Cipher(algorithms.AES(derived[:32]), modes.CBC(derived[32:])).decryptor()
    padded = decryptor.update(content[16:]) + decryptor.finalize()
    padding = padded[-1] if padded else 0
    if not 1 <= padding <= 16 or padded[-padding:] != bytes([padding]) * padding:
        raise _wrong_password(name)
    return padded[:-padding]


def _decrypt_with_openssl(content: bytes, password: str, name: str) -> bytes:
    command = ["openssl", "enc", "-d", "-aes-256-cbc", "-pbkdf2", "-pass", f"env:{PASSWORD_VARIABLE}"]
    environment = os.environ | {PASSWORD_VARIABLE: password}  # an argument would show in the list of processes
    try:
        done = subprocess.run(command, input=content, capture_output=True, env=environment, check=False)
    except FileNotFoundError:
        raise DataError(
            f"{name} cannot be decrypted: found neither the package cryptography nor the program openssl; "
            "fix: pip install cryptography"
        ) from None
    if done.returncode:
        raise _wrong_password(name)
    return done.stdout


def _wrong_password(name: str) -> DataError:
    return DataError(f"{name} cannot be decrypted: wrong password or damaged file; fix: set {PASSWORD_VARIABLE}")


def question_of(prompt: str, choices: list[str], item: str) -> str:
    """Cut the question out of a stored prompt: an instruction, a blank line, the question, options `A) ...`.

    Raises DataError, naming the item, where the prompt is built in another way.
    """
    rest = prompt.rstrip()
    for position in reversed(range(len(choices))):
        option = f"{chr(ord('A') + position)}) {choices[position]}".rstrip()
        if not rest.endswith(option):
            raise DataError(f"prompt of item {item} does not end with its options; fix: give a column `question`")
        rest = rest.removesuffix(option).rstrip(" \n")
    instruction, separator, question = rest.partition("\n\n")
    if not separator or not instruction.startswith("Answer the following multiple choice question"):
        raise DataError(f"prompt of item {item} does not begin with the known instruction; fix: see `question`")
    return question
