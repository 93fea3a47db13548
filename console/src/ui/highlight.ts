/** Colours code when it comes into view. The highlighter is loaded with the first code that has a language. */
const charsMax = 20_000;

export function highlightCode(element: HTMLElement): void {
  const blocks = [...element.querySelectorAll<HTMLElement>("pre > code[class*=language-]")];
  const wanted = blocks.filter((block) => {
    const isPlain = block.classList.contains("language-text");
    return !isPlain && (block.textContent?.length ?? 0) <= charsMax;
  });
  if (wanted.length === 0) return;
  void import("./highlighter.ts").then(({ highlight }) => {
    for (const block of wanted) highlight(block);
  });
}
