import { Copy } from "../../ui/basics.tsx";

const ways = [
  {
    title: "Bring what you have",
    text: "Import transcripts of other agents. Dropping files on this page does the same.",
    command: "varve import ~/.claude/projects",
  },
  {
    title: "Connect your agent",
    text: "Claude Code records and recalls by itself from then on.",
    command: "varve setup claude-code",
  },
  {
    title: "Look around first",
    text: "A tour on generated data, in a folder of its own. No key is needed.",
    command: "varve demo",
  },
];

/** The three ways to begin, on an empty store. */
export function Begin() {
  return (
    <section aria-label="Ways to begin" class="begin">
      {ways.map(({ title, text, command }) => (
        <div key={title} class="card">
          <h2>{title}</h2>
          <p class="soft small">{text}</p>
          <Copy text={command} />
        </div>
      ))}
    </section>
  );
}
