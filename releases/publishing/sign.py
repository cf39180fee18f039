"""Who vouches for a release: an Ed25519 signature over its manifest, in ``manifest.sig`` beside it.

The manifest's digest covers every byte of the release, so signing it signs everything. The signature
is the one file the manifest cannot list; adding it changes nothing that was frozen. Keys are PEM
files as openssl makes them:

    openssl genpkey -algorithm ed25519 -out private.pem
    openssl pkey -in private.pem -pubout -out public.pem
    python -m releases sign heart@2.0.0 --key private.pem
    python -m releases verify heart@2.0.0 --signature public.pem

Needs the package ``cryptography`` (extra ``sign``).
"""

from __future__ import annotations

import argparse
import base64
import binascii
import contextlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from releases.manifest import Problem
from releases.placing import opened
from schemas.command import DONE, print_json, say
from schemas.errors import MachineError, RequestError
from schemas.release_names import MANIFEST, add_release, locate
from schemas.rows import write_whole

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

HELP = "sign a release with an Ed25519 key"
EXAMPLE = "python -m releases sign heart@2.0.0 --key private.pem"

SIGNATURE = "manifest.sig"


def sign(folder: Path, private_key: Path) -> Path:
    """Write the signature of a release beside its manifest; signing again with the same key changes nothing."""
    signature = _private(private_key).sign((folder / MANIFEST).read_bytes())
    path = folder / SIGNATURE
    with opened(folder):
        write_whole(path, [_encode(signature)])
        path.chmod(0o444)
    return path


def signature_problem(folder: Path, public_key: Path) -> Problem | None:
    """None when the key signed this manifest, else what is wrong. Raises RequestError for a file that is no key."""
    key = _public(public_key)
    from cryptography.exceptions import InvalidSignature

    path = folder / SIGNATURE
    if not path.is_file() or path.is_symlink():
        return Problem(SIGNATURE, "signature.missing", "no signature")
    data = path.read_bytes()
    try:
        signature = base64.b64decode(data)
        key.verify(signature, (folder / MANIFEST).read_bytes())
    except (InvalidSignature, binascii.Error, OSError):
        return Problem(SIGNATURE, "signature.invalid", "not a signature of this manifest by that key")
    if data != _encode(signature):
        return Problem(SIGNATURE, "signature.malformed", "not in the form in which signatures are written")
    return None


def _encode(signature: bytes) -> bytes:
    return base64.b64encode(signature) + b"\n"


def _private(path: Path) -> Ed25519PrivateKey:
    _demand_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    with contextlib.suppress(ValueError, TypeError):
        key = load_pem_private_key(_pem(path), password=None)
        if isinstance(key, Ed25519PrivateKey):
            return key
    raise RequestError(
        "unusable key",
        path,
        expected="an Ed25519 private key in PEM form, without a password",
        fix="openssl genpkey -algorithm ed25519 makes one",
    )


def _public(path: Path) -> Ed25519PublicKey:
    _demand_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    with contextlib.suppress(ValueError):
        key = load_pem_public_key(_pem(path))
        if isinstance(key, Ed25519PublicKey):
            return key
    raise RequestError(
        "unusable key",
        path,
        expected="an Ed25519 public key in PEM form",
        fix="openssl pkey -in private.pem -pubout writes that of a private key",
    )


def _pem(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        raise RequestError("missing key", path, fix="Check the path") from None


def _demand_cryptography() -> None:
    if importlib.util.find_spec("cryptography") is None:
        raise MachineError(
            "the package cryptography is not installed", fix="pip install 'anamnesis[sign]', then run this again"
        )


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``sign``."""
    add_release(made)
    made.add_argument("--key", type=Path, required=True, metavar="PRIVATE.pem", help="Ed25519 private key, PEM")


def run(args: argparse.Namespace) -> int:
    """The verb."""
    path = sign(locate(args.release, args.frozen), args.key)
    if args.json:
        print_json({"release": args.release, "signature": str(path)})
    else:
        say(f"signed: {path}", quiet=args.quiet)
    return DONE
