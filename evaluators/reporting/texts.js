// Judged texts: filtered and searched, opened one by one; each part with what every judge said of it.
function texts(root, data) {
  const form = root.querySelector(".filter");
  const list = root.querySelector(".list");
  const more = root.querySelector(".more");
  const count = root.querySelector(".count");
  const FITS = ["wrong", "right"];
  let found = [];
  let shown = 0;

  const word = (place) => data.words[place];
  const run = () => data.runs[form.elements.run.value];

  function outcome(text, wanted) {
    const scores = text.parts.flatMap((part) => part[2]);
    if (wanted === "off") return scores.some((score) => score[3] === 0);
    if (wanted === "unscored") return scores.some((score) => typeof score[2] === "string" && score[2] !== "not applicable");
    if (wanted === "split") return text.parts.some(([, , own]) =>
      own.some((one) => own.some((other) => one[0] === other[0] && one[2] !== other[2])));
    return true;
  }

  function fits(text) {
    for (const [place, name] of data.groups.entries()) {
      const wanted = form.elements["by-" + name].value;
      if (wanted && text.groups[place] !== wanted) return false;
    }
    if (!outcome(text, form.elements.outcome.value)) return false;
    const words = form.elements.text.value.trim().toLowerCase();
    if (!words) return true;
    return [text.id, ...text.parts.map((part) => part[0] || "")].join("\n").toLowerCase().includes(words);
  }

  // "4 of 5" of the first judge: parts where the assignment says, or how many have a score.
  function summary(text) {
    const first = text.parts.map((part) => part[2][0]).filter(Boolean);
    const told = first.filter((score) => score[3] !== null);
    if (told.length) return told.filter((score) => score[3] === 1).length + " of " + told.length + " fit";
    return first.filter((score) => typeof score[2] === "number").length + " of " + text.parts.length + " scored";
  }

  function score([metric, judge, value, fit, why]) {
    const made = element("li", null, fit === null ? "" : FITS[fit]);
    const told = data.metrics > 1 ? word(metric) + " " + value : String(value);
    made.append(element("span", told, "chip"), element("small", word(judge) + (why === undefined ? "" : ": “" + why + "”")));
    return made;
  }

  function part([text, wrong, scores]) {
    const made = element("li");
    made.append(element("p", text || wrong, text ? "" : "caution"));
    const list = element("ul", null, "verdicts");
    list.append(...scores.map(score));
    made.append(list);
    return made;
  }

  function whole(text) {
    const made = element("div", null, "question");
    for (const [heading, told] of text.fields) {
      made.append(element("h4", word(heading)), element("div", word(told), "told"));
    }
    made.append(element("h4", data.part));
    const parts = element("ol", null, "parts");
    parts.append(...text.parts.map(part));
    made.append(parts);
    return made;
  }

  function entry(text) {
    const fold = element("details");
    fold.dataset.text = text.id;
    const head = element("summary");
    head.append(element("span", text.id), element("span", summary(text), "marks"),
      element("small", text.groups.map((value, place) => data.groups[place] + " " + value).join(", ")));
    fold.append(head);
    fold.addEventListener("toggle", () => { if (fold.open && !fold.querySelector(".question")) fold.append(whole(text)); });
    return fold;
  }

  function show() {
    for (const text of found.slice(shown, shown + PAGE)) list.append(entry(text));
    shown = Math.min(found.length, shown + PAGE);
    more.hidden = shown >= found.length;
  }

  function search() {
    found = run().texts.filter(fits);
    shown = 0;
    list.replaceChildren();
    count.textContent = found.length + " of " + run().texts.length + " texts";
    show();
  }

  function choices() {
    data.runs.forEach((one, number) => form.elements.run.append(new Option(one.name, number)));
    const all = data.runs.flatMap((one) => one.texts);
    for (const [place, name] of data.groups.entries()) {
      const select = element("select");
      select.name = "by-" + name;
      select.append(new Option("all", ""));
      for (const value of [...new Set(all.map((text) => text.groups[place]))].sort()) select.append(new Option(value, value));
      const label = element("label", name[0].toUpperCase() + name.slice(1).replaceAll("_", " "));
      label.append(select);
      form.append(label);
    }
  }

  choices();
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", show);
  search();
}
