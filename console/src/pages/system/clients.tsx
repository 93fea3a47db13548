import { Copy, Fault, Time } from "../../ui/basics.tsx";
import { formatNumber } from "../../ui/format.ts";
import { clients, warnings } from "./state.ts";

const kinds = { hooks: "plugin hooks", mcp: "MCP", proxy: "model proxy", api: "HTTP API", console: "console" } as const;

export function ClientsPanel() {
  const setups = [
    ["Claude Code (plugin with hooks and MCP)", "varve setup claude-code"],
    ["Claude Code through the model proxy", `ANTHROPIC_BASE_URL=${location.origin}/proxy/anthropic claude`],
    ["Claude Desktop", "varve setup claude-desktop"],
    ["Cursor", "varve setup cursor"],
    ["Codex", "varve setup codex"],
    ["OpenClaw", "varve setup openclaw"],
    ["pi", "varve setup pi"],
    ["Clients of OpenAI's API", `OPENAI_BASE_URL=${location.origin}/proxy/openai/v1`],
    ["Any client of MCP over HTTP", `${location.origin}/mcp`],
  ] as const;
  return (
    <>
      <Fault text={clients.error.value} />
      <h2>Seen since the gateway started</h2>
      <ul class="plain findings">
        {clients.data.value?.map(({ name, kind, lastAt, requests }) => (
          <li key={`${kind} ${name}`}>
            <span class="tag">{kinds[kind]}</span>
            <span>{name}</span>
            <span class="soft small">
              {formatNumber(requests)} requests, last <Time value={lastAt} />
            </span>
          </li>
        ))}
      </ul>
      <h2>Connect another one</h2>
      <div class="setups">
        {setups.map(([name, line]) => (
          <div key={name} class="field">
            <span>{name}</span>
            <Copy text={line} />
          </div>
        ))}
      </div>
    </>
  );
}

export function WarningsPanel() {
  const list = warnings.data.value;
  return (
    <>
      <Fault text={warnings.error.value} />
      {list?.length === 0 && <p class="soft">Nothing went wrong since the gateway started.</p>}
      <ul class="plain findings">
        {list?.map(({ time, event, text }, index) => (
          <li key={`${time} ${index}`}>
            <span class="tag warn">{event}</span>
            <span class="grow">{text}</span>
            <span class="soft small">
              <Time value={time} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
