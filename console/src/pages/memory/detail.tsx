import { useEffect, useRef } from "preact/hooks";
import { canWrite } from "../../api/login.ts";
import { sessionHref, setQuery } from "../../state/router.ts";
import { Fault, Time } from "../../ui/basics.tsx";
import { formatDay, formatPercent } from "../../ui/format.ts";
import { forgetMemory, restoreMemory } from "./actions.ts";
import type { Decay, Memory, Opened } from "./queries.ts";
import { draft, isCurrent, opened } from "./state.ts";

export function MemoryDetail() {
  const data = opened.data.value;
  if (opened.error.value !== undefined) return <Fault text={opened.error.value} />;
  if (!data) return null;
  const { memory } = data;
  const isBelieved = isCurrent(memory);
  return (
    <section class="card memory-detail" aria-label="Memory">
      <div class="spread">
        <h2>{memory.abstract}</h2>
        <button type="button" class="button quiet" onClick={() => setQuery({ id: "" })}>
          Close
        </button>
      </div>
      {memory.content !== memory.abstract && <p>{memory.content}</p>}
      <div class="chips">
        <span class="tag">{memory.category}</span>
        <span class="tag">{memory.tier}</span>
        <span class="tag">{memory.scope}</span>
        <span class="tag">from {memory.trust}</span>
        {memory.forgottenAt !== undefined && <span class="tag danger">forgotten</span>}
        {memory.forgottenAt === undefined && !isBelieved && <span class="tag warn">replaced</span>}
        {memory.tentativeUntil !== undefined && <span class="tag warn">waits for confirmation</span>}
      </div>
      {canWrite() && (
        <div class="row">
          {isBelieved && (
            <>
              <button
                type="button"
                class="button"
                onClick={() => (draft.value = { id: memory.id, text: memory.content })}
              >
                Correct
              </button>
              <button type="button" class="button danger" onClick={() => void forgetMemory(memory)}>
                Forget
              </button>
            </>
          )}
          {memory.forgottenAt !== undefined && (
            <button type="button" class="button" onClick={() => void restoreMemory(memory.id)}>
              Take back
            </button>
          )}
        </div>
      )}
      <Curve decay={data.decay} />
      <Versions versions={data.versions} current={memory.id} />
      <EvidenceList data={data} />
    </section>
  );
}

function Curve({ decay }: { decay: Decay }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let destroy: (() => void) | undefined;
    let isGone = false;
    void import("../../ui/chart.ts").then(({ drawCurve }) => {
      if (!isGone && box.current) destroy = drawCurve(box.current, decay.points, decay.now);
    });
    return () => {
      isGone = true;
      destroy?.();
    };
  }, [decay]);
  const last = decay.points.at(-1);
  return (
    <div>
      <h3>How it fades</h3>
      <p class="soft small">
        Its strength is {formatPercent(decay.worth)} today
        {last && `, and ${formatPercent(last.worth)} on ${formatDay(last.time)} if it is not used`}. Below{" "}
        {formatPercent(decay.staleBelow)} it counts as stale. Use keeps it fresh.
      </p>
      <div class="curve" ref={box} aria-hidden="true" />
    </div>
  );
}

/** The versions as a line of time; each opens. */
function Versions({ versions, current }: { versions: readonly Memory[]; current: string }) {
  return (
    <div>
      <h3>Versions</h3>
      <ol class="plain versions">
        {versions.map((version) => (
          <li key={version.id} class={version.id === current ? "here" : ""}>
            <button
              type="button"
              onClick={() => setQuery({ id: version.id }, false)}
              aria-current={version.id === current}
            >
              {version.abstract}
            </button>
            <span class="soft small">
              believed from <Time value={version.validFrom} full />
              {version.invalidatedAt !== undefined && (
                <>
                  {" "}
                  to <Time value={version.invalidatedAt} full />
                </>
              )}
              {version.forgottenAt !== undefined && ", then forgotten"}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The passages that a memory rests on, with its words marked. */
function EvidenceList({ data }: { data: Opened }) {
  const { evidence, missing, withheld } = data;
  return (
    <div>
      <h3>Evidence</h3>
      {evidence.length === 0 && <p class="soft small">It was stored directly; no message says it.</p>}
      {evidence.map((one) => {
        const at = one.text.indexOf(one.quote);
        const [start, end] = at === -1 ? [0, 0] : [at, at + one.quote.length];
        const from = Math.max(0, start - 300);
        return (
          <blockquote key={`${one.citation} ${one.quote}`} class="evidence">
            <p>
              {from > 0 && "…"}
              {one.text.slice(from, start)}
              <mark>{one.text.slice(start, end)}</mark>
              {one.text.slice(end, end + 300)}
              {end + 300 < one.text.length && "…"}
            </p>
            <footer class="soft small">
              {one.role}, <Time value={one.time} full />,{" "}
              <a href={sessionHref(one.sessionId, { at: one.citation.replace(/\D/g, "") })}>{one.citation}</a>
            </footer>
          </blockquote>
        );
      })}
      {missing.length > 0 && <p class="notice small">Deleted since: {missing.join(", ")}</p>}
      {withheld.length > 0 && (
        <p class="notice small">Withheld, because this login may not see them: {withheld.join(", ")}</p>
      )}
    </div>
  );
}
