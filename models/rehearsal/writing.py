"""What the rehearsal server answers a good request with: a composed text, its faults, and what it used.

Tokens are estimated as in ``models.tokens``; a prefix of system blocks that ends in a breakpoint and is long
enough is written to the cache once and read from then on.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from models import tokens
from models.rehearsal.answers import Composer, invent
from models.rehearsal.counts import Counts
from models.rehearsal.faults import Fault, Faults, spoiled
from models.roles import Model, known_models, model_named


@dataclass(frozen=True)
class Rehearsal:
    """How the server behaves. ``latency`` and ``batch_seconds`` in seconds; ``key`` None: any key is good.

    ``compose`` answers, ``composers`` answer for the models they are named by. ``heeds_schema`` False: a schema is
    taken and ignored, as some servers do. ``wires`` are those it speaks.
    """

    latency: float = 0.0
    batch_seconds: float = 0.0
    faults: Faults = field(default_factory=Faults)
    compose: Composer = invent
    key: str | None = None
    models: tuple[str, ...] = ()
    composers: Mapping[str, Composer] = field(default_factory=dict)
    heeds_schema: bool = True
    wires: tuple[str, ...] = ("messages", "chat")


class Writing:
    """Answers requests of the Messages API, and counts."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal = rehearsal
        self.counts = Counts()
        self.models: dict[str, Model] = {name: model_named(name) for name in (*known_models(), *rehearsal.models)}
        self._cached: set[bytes] = set()

    def next_fault(self, key: bytes, raw: bytes) -> Fault | None:
        """The fault of the next attempt of a request, counted."""
        fault = self.rehearsal.faults.of_attempt(key, self.counts.attempt(key), raw)
        if fault:
            self.counts.faults[fault.kind] += 1
        return fault

    def reply(self, body: Mapping[str, Any], key: bytes, raw: bytes) -> dict[str, Any]:
        """The message that answers a good request."""
        model = self.models[body["model"]]
        fault = self.rehearsal.faults.of_text(key, raw)
        stop = "end_turn"
        if fault and fault.kind == "refusal":
            self.counts.faults["refusal"] += 1
            return self._message(key, model, "", "refusal", body)
        seen = body if self.rehearsal.heeds_schema else {k: v for k, v in body.items() if k != "output_config"}
        text = self.rehearsal.composers.get(model.name, self.rehearsal.compose)(seen)
        if fault:
            self.counts.faults[fault.kind] += 1
            text = spoiled(text, fault.kind, random.Random(key))
            stop = "max_tokens" if fault.kind == "truncated" else stop
        most = int(body["max_tokens"] * model.bytes_per_token)
        if len(text.encode()) > most:
            text, stop = text.encode()[:most].decode(errors="ignore"), "max_tokens"
        return self._message(key, model, text, stop, body)

    def _message(self, key: bytes, model: Model, text: str, stop: str, body: Mapping[str, Any]) -> dict[str, Any]:
        refused = {"type": "refusal", "category": "general_harms", "explanation": "rehearsed"}
        usage = self._usage(body, model, text)
        self.counts.made(model.name, usage)
        return {
            "id": f"msg_{key.hex()[:24]}",
            "type": "message",
            "role": "assistant",
            "model": model.name,
            "content": [{"type": "text", "text": text}] if text else [],
            "stop_reason": stop,
            "stop_sequence": None,
            "stop_details": refused if stop == "refusal" else None,
            "usage": {**usage, "service_tier": "standard"},
        }

    def _usage(self, body: Mapping[str, Any], model: Model, text: str) -> dict[str, int]:
        def count(part: str) -> int:
            return tokens.estimate(part, model.bytes_per_token)

        system = body.get("system", "")
        blocks = system if isinstance(system, list) else [{"text": system}]
        schema = orjson.dumps(body["output_config"]).decode() if body.get("output_config") else ""
        rest = count(schema) + sum(count(_words(turn["content"])) + tokens.TURN for turn in body["messages"])
        read = prefix = total = 0
        digest = hashlib.sha256(model.name.encode())
        for block in blocks:
            total += count(block["text"])
            digest.update(block["text"].encode())
            if "cache_control" in block and total >= model.cache_minimum:
                prefix = total
                if digest.digest() in self._cached:
                    read = total
                self._cached.add(digest.digest())
        return {
            "input_tokens": total - prefix + rest,
            "cache_creation_input_tokens": prefix - read,
            "cache_read_input_tokens": read,
            "output_tokens": count(text) if text else 1,
        }


def _words(content: Any) -> str:
    """The text of a message."""
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
