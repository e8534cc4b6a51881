import struct


def records(path):  # decompressed: `unzstd` a part that ends in .zst
    data = open(path, "rb").read()
    assert data[:4] == b"MPK1" and data[6:8] == b"\x60\0"
    at = 24
    while at < len(data):
        ply, value_z, value_q, n = struct.unpack_from("<HffH", data, at)
        end = at + 108 + 8 * n
        candidates = list(struct.iter_unpack("<HIh", data[at + 108 : end]))  # mv, visits, cp
        yield ply, value_z, value_q, data[at + 12 : at + 108], candidates
        at = end
