# Lines `CLASS JSON` → each read into the generated pydantic class, and written again.
import importlib
import re
import sys

for line in sys.stdin:
    name, text = line.split(" ", 1)
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    model = getattr(importlib.import_module(f"asyncapimodels.{module}"), name)
    print(model.model_validate_json(text).model_dump_json(by_alias=True))
