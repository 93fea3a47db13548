import { sessionHref } from "../../state/router.ts";
import { citationHref } from "../../ui/citations.ts";
import { count, formatNumber, formatPercent } from "../../ui/format.ts";
import { Markdown } from "../../ui/message-body.tsx";
import type { LiveTurn } from "./state.ts";

export function TurnView({ turn, session }: { turn: LiveTurn; session: string }) {
  const { result, recall } = turn;
  return (
    <>
      <article class="entry role-user">
        <Markdown text={turn.text} />
      </article>
      <article class="entry role-assistant" aria-busy={result === undefined && turn.fault === undefined}>
        {turn.reasoning !== "" && (
          <details class="recall-note">
            <summary>Thinking</summary>
            <pre tabIndex={0}>{turn.reasoning}</pre>
          </details>
        )}
        {turn.tools.map((tool) => (
          <details key={tool.callId} class="recall-note">
            <summary>
              {tool.result === undefined ? "Calls" : tool.isError ? "Failed:" : "Called"} {tool.name}
            </summary>
            <pre tabIndex={0}>{JSON.stringify(tool.input, null, 2)}</pre>
            {tool.result !== undefined && <pre tabIndex={0}>{tool.result}</pre>}
          </details>
        ))}
        {turn.reply === "" && result === undefined && turn.fault === undefined ? (
          <p class="soft">…</p>
        ) : (
          <Markdown text={turn.reply || (result?.status === "silent" ? "_The agent chose not to reply._" : "")} />
        )}
        {turn.fault !== undefined && <p class="notice danger">{turn.fault}</p>}
        {result?.error && (
          <p class="notice danger">
            {result.error.message} {result.error.remedy}
          </p>
        )}
        {result?.notes.map((note) => (
          <p key={note} class="soft small">
            {note}
          </p>
        ))}
        {result && (
          <p class="soft small turn-facts">
            <span>{turn.runner}</span>
            {result.usage && (
              <span>
                {formatNumber(result.usage.inputTokens)} tokens read, {formatNumber(result.usage.outputTokens)} written
              </span>
            )}
            {result.context && (
              <span>
                window {formatNumber(result.context.tokens)} of {formatNumber(result.context.window)} (
                {formatPercent(result.context.tokens / Math.max(1, result.context.window))})
              </span>
            )}
            {result.status === "interrupted" && <span class="tag warn">stopped</span>}
            <a href={`${sessionHref(session)}/context`}>What the model saw</a>
          </p>
        )}
        {recall && (
          <details class="recall-note">
            <summary>
              Recalled:{" "}
              {recall.memories.length === 0 ? "passages" : count(recall.memories.length, "memory", "memories")}
            </summary>
            <pre tabIndex={0}>{recall.block}</pre>
            <div class="chips">
              {recall.memories
                .filter((id) => id.startsWith("mem_"))
                .map((id) => (
                  <a key={id} class="tag" href={`/memory?id=${id}`}>
                    {id}
                  </a>
                ))}
              {[...new Set(recall.block.match(/msg#\d+/g) ?? [])].map((citation) => (
                <a key={citation} class="tag" href={citationHref(citation)}>
                  {citation}
                </a>
              ))}
            </div>
          </details>
        )}
      </article>
    </>
  );
}
