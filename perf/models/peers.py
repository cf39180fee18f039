"""What ``perf.models.dispatch`` runs in the environment of other frameworks, and the server they talk to.

``serve`` answers chat completions (both frameworks speak them best) with the same 3 KB after the same latency as
the rehearsal server, on the same HTTP code. The other names run a framework as its users do: a pipeline of
one generation step over N rows. Such a process prints ``ready`` after its imports, begins at the first line
of its standard input, and prints how many rows have text.

    python -m perf.models.peers serve 0.2
    .peers/bin/python perf/models/peers.py distilabel http://127.0.0.1:8000 2000 256
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable

PROMPT = "Write a first-person memory of about 500 words. " * 8
THREE_KB = ("I remember the kitchen table and how my aunt folded the letter twice before she said a word. " * 34)[:3000]


def distilabel(address: str, requests: int, concurrency: int) -> Callable[[], int]:
    """A pipeline of LoadDataFromDicts and TextGeneration, batches of the concurrency."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from distilabel.models import OpenAILLM
    from distilabel.pipeline import Pipeline
    from distilabel.steps import LoadDataFromDicts
    from distilabel.steps.tasks import TextGeneration

    model = OpenAILLM(model="stub", base_url=f"{address}/v1", api_key="k", generation_kwargs={"max_new_tokens": 1024})
    with Pipeline(name=f"peer-{os.getpid()}") as pipeline:
        load = LoadDataFromDicts(
            data=[{"instruction": f"{PROMPT}{number}"} for number in range(requests)], batch_size=concurrency
        )
        load >> TextGeneration(llm=model, input_batch_size=concurrency)

    def go() -> int:
        made = pipeline.run(use_cache=False)["default"]["train"]["generation"]
        return sum(1 for text in made if text)

    return go


def data_designer(address: str, requests: int, concurrency: int) -> Callable[[], int]:
    """One sampler column and one text column."""
    import data_designer.config as config
    from data_designer.interface import DataDesigner

    os.environ["PEER_KEY"] = "k"
    provider = config.ModelProvider(name="p", endpoint=f"{address}/v1", provider_type="openai", api_key="PEER_KEY")
    parameters = config.ChatCompletionInferenceParams(max_tokens=1024, max_parallel_requests=concurrency)
    model = config.ModelConfig(
        alias="m", model="stub", provider="p", skip_health_check=True, inference_parameters=parameters
    )
    builder = config.DataDesignerConfigBuilder(model_configs=[model])
    sampled = config.UniformSamplerParams(low=0, high=1)
    builder.add_column(config.SamplerColumnConfig(name="k", sampler_type=config.SamplerType.UNIFORM, params=sampled))
    builder.add_column(config.LLMTextColumnConfig(name="memory", model_alias="m", prompt=PROMPT + "{{ k }}"))
    designer = DataDesigner(artifact_path=tempfile.mkdtemp(), model_providers=[provider])

    def go() -> int:
        made = designer.create(builder, num_records=requests, dataset_name="x").load_dataset()
        return int(made["memory"].str.len().gt(0).sum())

    return go


def serve(latency: float) -> None:
    """Answer chat completions until the process is ended; the address is the first line of the output."""
    import asyncio

    import orjson

    from models.rehearsal.calls import Call, Response
    from models.rehearsal.server import Connection

    choice = {"index": 0, "message": {"role": "assistant", "content": THREE_KB}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 120, "completion_tokens": 700, "total_tokens": 820}
    completion = {"id": "c", "object": "chat.completion", "created": 0, "model": "stub", "choices": [choice]}
    body = orjson.dumps({**completion, "usage": usage})

    class Chat:
        """Counts what it answered."""

        answered = 0

        def respond(self, call: Call) -> Response:
            if call.path == "/_stats":
                return Response(200, orjson.dumps({"answered": self.answered, "cpu_seconds": 0.0}))
            return Response(200, body, seconds=latency, key=b"x")

        def sent(self, response: Response, whole: bool) -> None:
            self.answered += whole and response.key is not None

    async def listen() -> None:
        loop, chat = asyncio.get_running_loop(), Chat()
        server = await loop.create_server(lambda: Connection(chat, loop), "127.0.0.1", 0, backlog=4096)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await server.serve_forever()

    asyncio.run(listen())


def main() -> None:
    """Serve, or run a framework."""
    name = sys.argv[1]
    if name == "serve":
        serve(float(sys.argv[2]))
        return
    framework = {"distilabel": distilabel, "data_designer": data_designer}[name]
    go = framework(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    print("ready", flush=True)
    sys.stdin.readline()
    print("done", go(), flush=True)


if __name__ == "__main__":
    main()
