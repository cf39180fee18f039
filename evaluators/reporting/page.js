"use strict";
// Texts are put in as text nodes only: nothing of a release or a reply is ever read as markup.
(() => {
  const PAGE = 60; // entries of a list shown at once

  function element(name, text, kind) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

{{kinds}}
  const KINDS = { questions, dialogues, texts };

  // A section's data are one compressed block: unpacked once, when somebody comes near the section.
  async function unpack(block, root) {
    const bytes = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    KINDS[block.dataset.kind](root, await new Response(stream).json());
  }

  const begun = new Map();

  function begin(block) {
    const root = block.closest("section");
    const complain = (error) => root.append(element("p", "The items cannot be shown: " + error.message, "caution"));
    if (!begun.has(block)) begun.set(block, unpack(block, root).catch(complain));
    return begun.get(block);
  }

  const blocks = [...document.querySelectorAll("script.data")];
  window.showItems = () => Promise.all(blocks.map(begin));
  for (const block of blocks) {
    const root = block.closest("section");
    root.addEventListener("focusin", () => begin(block), { once: true });
    const near = new IntersectionObserver((seen) => {
      if (!seen.some((one) => one.isIntersecting)) return;
      near.disconnect();
      begin(block);
    }, { rootMargin: "800px" });
    near.observe(root);
  }
})();
