"""Texts that made a rule for secrets look far from each place it tried, or that do so at worst."""

WORST_TEXTS = {
    "list": b'"sid":[',
    "private key": b"-----BEGIN RSA PRIVATE KEY-----",
    "private key and body": b"-----BEGIN PRIVATE KEY-----" + b"QUJD" * 5000,
    "prefixes": b"a-b-c-d-",
    "long prefix": b"a" * 40 + b"-",
    "names": b"a_b_c_d_pass",
    "name and spaces": b"sid" + b" " * 40,
    "name and no value": b"sid= ",
    "member": b'"token":"',
    "member with pairs": b'"token":"\\"',
    "assigned": b'token="',
    "header": b"token: Basic\n",
    "figure": b"token: 5555555\n",
    "parameter": b"token=",
    "short": b" pass=",
    "masked": b"token=[redacted]",
    "digits": b"key1",
    "letters": b"keya",
    "quotes": b"key\"'",
    "address": b"@://a:",
    "long address": b"@://a:" + b"b" * 300,
    "login": b" -a x",
    "login and commas": b"-a" + b"," * 30 + b"x" * 250,
    "token": b".eyJaaaaaaaa",
    "long token": b"eyJ" + b"a" * 5000 + b".",
    "shape": b" ls_",
}


def worst_text(name: str, size_bytes: int) -> bytes:
    """So many bytes of the text, which is repeated."""
    piece = WORST_TEXTS[name]
    return (piece * (size_bytes // len(piece) + 1))[:size_bytes]
