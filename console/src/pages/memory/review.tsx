import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { canWrite } from "../../api/login.ts";
import { setQuery } from "../../state/router.ts";
import { count } from "../../ui/format.ts";
import { decideReview } from "./actions.ts";
import { conflicts, reviews } from "./state.ts";

/** Facts that wait for a person: `a` approves, `r` rejects, arrows move. */
export function ReviewPanel() {
  const waiting = reviews.data.value ?? [];
  const at = useSignal(0);
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (at.value >= waiting.length) at.value = Math.max(0, waiting.length - 1);
  }, [waiting.length]);
  if (waiting.length === 0) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const review = waiting[at.value];
    if (event.key === "ArrowDown") at.value = Math.min(waiting.length - 1, at.value + 1);
    else if (event.key === "ArrowUp") at.value = Math.max(0, at.value - 1);
    else if (event.key === "a" && review && canWrite()) void decideReview(review, "accepted");
    else if (event.key === "r" && review && canWrite()) void decideReview(review, "rejected");
    else return;
    event.preventDefault();
  };
  return (
    <section class="card review" aria-label="Waiting for review" ref={box} tabIndex={0} onKeyDown={onKeyDown}>
      <h2>{count(waiting.length, "fact")} waiting for you</h2>
      {canWrite() && (
        <p class="soft small">
          Arrows move, <kbd>a</kbd> approves, <kbd>r</kbd> rejects.
        </p>
      )}
      <ul class="plain">
        {waiting.slice(0, 20).map((review, index) => (
          <li key={review.id} class={index === at.value ? "chosen" : ""}>
            <div class="grow">
              <p>{review.candidate.abstract}</p>
              <p class="soft small">
                {review.candidate.category}, {review.scope}, certainty {review.score.toFixed(2)}
              </p>
            </div>
            {canWrite() && (
              <div class="row">
                <button type="button" class="button" onClick={() => void decideReview(review, "accepted")}>
                  Approve
                </button>
                <button type="button" class="button danger" onClick={() => void decideReview(review, "rejected")}>
                  Reject
                </button>
              </div>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

export function ConflictPanel() {
  const pairs = conflicts.data.value ?? [];
  if (pairs.length === 0) return null;
  return (
    <section class="card" aria-label="Contradictions">
      <h2>{count(pairs.length, "possible contradiction")}</h2>
      <ul class="plain conflicts">
        {pairs.slice(0, 10).map(([one, other]) => (
          <li key={`${one.id} ${other.id}`}>
            <button type="button" class="link" onClick={() => setQuery({ id: one.id }, false)}>
              {one.abstract}
            </button>
            <span class="soft"> against </span>
            <button type="button" class="link" onClick={() => setQuery({ id: other.id }, false)}>
              {other.abstract}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
