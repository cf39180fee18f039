"""How a scenario and a memory are put into words for a model: one rendering for every prompt.

Only what an evaluated model may know as well: no trait, no rating, no reference reaction. Ids are the
anonymous ones (HEART-BENCH 3.2).
"""

from __future__ import annotations

from schemas.tables import Row


def scenario_text(scenario: Row) -> str:
    """Setting, background, trigger and the decision asked for."""
    setting, trigger = scenario["setting"], scenario["trigger_event"]
    lines = [
        scenario["name"],
        f"{setting['location']}; {setting['time']}; {setting['atmosphere']}",
        "",
        scenario["context_text"],
        "",
        f"{trigger['sender']}: {trigger['message_content']}",
    ]
    if trigger["action_required"]:
        lines += ["", trigger["action_required"]]
    return "\n".join(lines)


def memory_text(memory: Row) -> str:
    """A memory in full, with what it settled and which rule it left behind."""
    return (
        f"[{memory['id']}] {memory['timeline']}, {memory['context']}\n{memory['content_full']}\n"
        f"Settled: {memory['psych_conclusion']}\nRule: {memory['behavior_policy']}"
    )


def memory_line(memory: Row) -> str:
    """A memory in short: gist, conclusion, rule and feeling."""
    feeling = memory["emotion_signature"]
    return (
        f"[{memory['id']}] {memory['timeline']}: {memory['content_summary']} | {memory['psych_conclusion']} | "
        f"{memory['behavior_policy']} | {feeling['primary']}, {feeling['secondary']} ({feeling['intensity']:.2f})"
    )
