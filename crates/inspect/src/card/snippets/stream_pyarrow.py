import manaka
import pyarrow as pa

reader = pa.RecordBatchReader.from_stream(manaka.open_stream("FILE"))
for batch in reader:
    batch["ply"], batch["value_q"], batch["candidates"]
