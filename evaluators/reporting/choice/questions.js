// Questions of multiple choice: searched, filtered, opened one by one.
function questions(root, data) {
  const form = root.querySelector(".filter");
  const list = root.querySelector(".list");
  const more = root.querySelector(".more");
  const count = root.querySelector(".count");
  let found = [];
  let shown = 0;

  function choices() {
    const names = [...new Set(data.questions.map((q) => q.who))].sort();
    for (const name of names) form.elements.who.append(new Option(name, name));
    for (const [stage, label] of Object.entries(data.stages)) form.elements.stage.append(new Option(label, stage));
  }

  function outcome(q, wanted) {
    const runs = q.runs.filter((run) => run);
    const right = runs.filter((run) => run.right).length;
    if (wanted === "all") return right === runs.length;
    if (wanted === "none") return right === 0;
    if (wanted === "split") return right > 0 && right < runs.length;
    if (wanted === "unscored") return runs.some((run) => run.state !== "scored");
    return true;
  }

  function fits(q) {
    const asked = form.elements;
    if (asked.who.value && q.who !== asked.who.value) return false;
    if (asked.stage.value && q.stage !== asked.stage.value) return false;
    if (!outcome(q, asked.outcome.value)) return false;
    const words = asked.text.value.trim().toLowerCase();
    if (!words) return true;
    const scenario = data.scenarios[q.scenario];
    const all = [q.id, scenario.name, scenario.text, ...q.options.map((pair) => pair[1])].join("\n").toLowerCase();
    return all.includes(words);
  }

  function mark(run) {
    if (!run) return element("span", "·", "none");
    if (run.state !== "scored") return element("span", "–", "none");
    return run.right ? element("span", "✓", "right") : element("span", "✗", "wrong");
  }

  function told(run) {
    if (!run) return "not asked";
    if (run.state !== "scored") return run.state + (run.why ? ": " + run.why : "");
    return "chose " + run.choice + (run.right ? ", right" : ", wrong");
  }

  function memories(run) {
    const items = element("ol", null, "memories");
    for (const [place, which] of run.memories.entries()) {
      const score = run.scores[place];
      const [id, when, what, text] = typeof which === "number" ? data.memories[which] : [which[0], "", "", which[1]];
      const item = element("li");
      item.append(element("span", [when, id, score === null ? "" : score.toFixed(3)].filter(Boolean).join(", ") + "  "));
      item.append(what ? what + " — " + text : text);
      items.append(item);
    }
    return items;
  }

  function answer(run, name) {
    const made = element("div");
    made.append(element("h4", name + ": " + told(run)));
    if (run && run.reply) made.append(element("div", run.reply, "reply"));
    if (run && run.memories.length) {
      const fold = element("details");
      fold.append(element("summary", run.memories.length + " memories retrieved of " + run.eligible));
      fold.addEventListener("toggle", () => { if (fold.open && !fold.querySelector("ol")) fold.append(memories(run)); });
      made.append(fold);
    }
    return made;
  }

  function whole(q) {
    const made = element("div", null, "question");
    made.append(element("h4", "Situation"), element("div", data.scenarios[q.scenario].text, "told"));
    made.append(element("h4", "Options; the character’s own is " + q.gold));
    const options = element("ul", null, "options");
    for (const [label, text] of q.options) {
      const item = element("li", null, label === q.gold ? "gold" : "");
      item.append(element("strong", label), element("span", text));
      const who = data.runs.filter((name, place) => q.runs[place] && q.runs[place].choice === label);
      if (who.length) item.append(element("small", "chosen by " + who.join("; ")));
      options.append(item);
    }
    made.append(options);
    q.runs.forEach((run, place) => { if (run) made.append(answer(run, data.runs[place])); });
    return made;
  }

  function entry(q) {
    const fold = element("details");
    fold.dataset.question = q.id;
    const summary = element("summary");
    summary.append(element("span", data.scenarios[q.scenario].name));
    const marks = element("span", null, "marks");
    q.runs.forEach((run, place) => {
      const one = mark(run);
      one.title = data.runs[place] + ": " + told(run);
      marks.append(one);
    });
    marks.setAttribute("role", "img");
    marks.setAttribute("aria-label", q.runs.map((run, place) => data.runs[place] + " " + told(run)).join("; "));
    summary.append(marks, element("small", q.who + ", " + data.stages[q.stage] + ", age " + q.age));
    fold.append(summary);
    fold.addEventListener("toggle", () => { if (fold.open && !fold.querySelector(".question")) fold.append(whole(q)); });
    return fold;
  }

  function show() {
    for (const q of found.slice(shown, shown + PAGE)) list.append(entry(q));
    shown = Math.min(found.length, shown + PAGE);
    more.hidden = shown >= found.length;
  }

  function search() {
    found = data.questions.filter(fits);
    shown = 0;
    list.replaceChildren();
    count.textContent = found.length + " of " + data.questions.length + " questions. Marks: "
      + data.runs.join("; ") + " (✓ right, ✗ wrong, – not scored)";
    show();
  }

  choices();
  form.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", show);
  search();
}
