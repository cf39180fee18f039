"""Users, tasks and dialogues of the PersonaLens release in the repository, for tests."""

import functools

from evaluators.subjects.tasks.play import play
from evaluators.subjects.tasks.slots import menus
from releases.opening import open_release


@functools.cache
def released():
    return open_release("personalens@1.0.0")


@functools.cache
def table(name):
    return tuple(released().rows(name))


@functools.cache
def offered():
    return menus(table("preferences"))


def user(user_id):
    return next(row for row in table("users") if row["user_id"] == user_id)


def task(task_id):
    return next(row for row in table("tasks") if row["task_id"] == task_id)


@functools.cache
def pairs(every=40):
    """User and task of each so-many-th situation."""
    users = {row["user_id"]: row for row in table("users")}
    tasks = {row["task_id"]: row for row in table("tasks")}
    return tuple((users[row["user_id"]], tasks[row["task_id"]]) for row in table("situations")[::every])


def played(assistant, manner="steady", every=40, seed=7):
    """Dialogues of so many pairs, with the pair."""
    return [(user, task, play(user, task, offered(), assistant, seed, manner)) for user, task in pairs(every)]
