import manaka

stream = manaka.open_stream("FILE")  # or a list of parts, read as one stream
print(stream.header)  # look before you mix
for batch in stream.batches():  # numpy arrays
    batch.records["ply"], batch.records["packed"], batch.records["value_q"]
    batch.candidates["mv"], batch.candidates["HALF"], batch.offsets
