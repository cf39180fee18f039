// Dialogues: one at a time, by run and person; scores stand under the reply they are of.
function dialogues(root, data) {
  const form = root.querySelector(".filter");
  const place = root.querySelector(".talk");

  function people() {
    const talks = data.runs[form.elements.run.value].talks;
    form.elements.talk.replaceChildren(
      ...talks.map((talk, number) => new Option([talk.name, talk.about, talk.id].filter(Boolean).join(", "), number)));
  }

  function why(rest, text) {
    if (!rest.length) return "";
    return ": “" + (rest.length === 2 ? text.slice(rest[0], rest[1]) : data.words[rest[0]]) + "”";
  }

  function scores(found, text) {
    const fold = element("details", null, "scores");
    const summary = element("summary");
    const list = element("ul");
    for (const [metric, judge, value, ...rest] of found) {
      const told = data.words[metric] + " " + value;
      if (value !== "not applicable") {
        const chip = element("span", told, "chip");
        chip.title = data.words[judge];
        summary.append(chip);
      }
      list.append(element("li", told + ", " + data.words[judge] + why(rest, text)));
    }
    fold.append(summary, list);
    return fold;
  }

  function message([own, who, text, wrong, found]) {
    const made = element("div", null, own ? "bubble own" : "bubble");
    made.append(element("small", data.words[who]), element("p", text || wrong, text ? "" : "caution"));
    if (found.length) made.append(scores(found, text || ""));
    return made;
  }

  function show() {
    const talk = data.runs[form.elements.run.value].talks[form.elements.talk.value];
    const made = [element("p", "Ended by " + talk.ended, "note")];
    if (data.words[talk.profile]) {
      const fold = element("details");
      fold.append(element("summary", "Who " + talk.name + " is (the assistant does not see it)"),
        element("div", data.words[talk.profile], "told"));
      made.push(fold);
    }
    if (talk.scores.length) made.push(scores(talk.scores, ""));
    for (const session of talk.sessions) {
      const part = element("section", null, "session");
      part.append(element("h3", "Session " + session.number));
      const agenda = data.words[session.agenda];
      if (agenda) part.append(element("p", "What the user is after: " + agenda, "note"));
      part.append(...session.said.map(message));
      made.push(part);
    }
    place.replaceChildren(...made);
  }

  data.runs.forEach((run, number) => form.elements.run.append(new Option(run.name, number)));
  form.elements.run.addEventListener("change", () => { const at = form.elements.talk.value; people();
    if (form.elements.talk.options[at]) form.elements.talk.value = at; show(); });
  form.elements.talk.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  people();
  show();
}
