"""Keccak-256 as Ethereum uses it: the padding differs from SHA3-256, so ``hashlib`` has it not."""

from __future__ import annotations

_MASK = (1 << 64) - 1
_RATE = 136
_ROUNDS = 24


def _round_constants() -> tuple[int, ...]:
    """Make the round constants with the shift register of the Keccak reference, section 1.2."""
    register, constants = 1, []
    for _ in range(_ROUNDS):
        constant = 0
        for j in range(7):
            if register & 1:
                constant |= 1 << ((1 << j) - 1)
            register <<= 1
            if register & 0x100:
                register ^= 0x171
        constants.append(constant)
    return tuple(constants)


_CONSTANTS = _round_constants()


def _rotated(value: int, by: int) -> int:
    return ((value << by) | (value >> (64 - by))) & _MASK if by else value


def _permuted(lanes: list[int]) -> list[int]:
    """Return the state after 24 rounds; lane (x, y) is at x + 5 y."""
    for constant in _CONSTANTS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        parity = [columns[x - 1] ^ _rotated(columns[(x + 1) % 5], 1) for x in range(5)]
        lanes = [lane ^ parity[i % 5] for i, lane in enumerate(lanes)]
        x, y, current = 1, 0, lanes[1]
        for t in range(_ROUNDS):
            x, y = y, (2 * x + 3 * y) % 5
            current, lanes[x + 5 * y] = lanes[x + 5 * y], _rotated(current, (t + 1) * (t + 2) // 2 % 64)
        mixed = []
        for row in range(0, 25, 5):
            line = lanes[row : row + 5]
            mixed += [line[i] ^ (~line[(i + 1) % 5] & _MASK & line[(i + 2) % 5]) for i in range(5)]
        mixed[0] ^= constant
        lanes = mixed
    return lanes


def keccak_256(message: bytes) -> bytes:
    """Return the 32-byte digest of ``message`` (Keccak submission of 2011, rate 1088, padding 10*1)."""
    padded = bytearray(message)
    padded += b"\x00" * (_RATE - len(message) % _RATE)
    padded[len(message)] ^= 0x01
    padded[-1] ^= 0x80
    lanes = [0] * 25
    for block in range(0, len(padded), _RATE):
        for i in range(_RATE // 8):
            at = block + 8 * i
            lanes[i] ^= int.from_bytes(padded[at : at + 8], "little")
        lanes = _permuted(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])
