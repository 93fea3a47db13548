import { sessionHref } from "../../state/router.ts";
import { describeKey } from "../../ui/session-title.ts";
import type { Branches } from "./queries.ts";
import type { Transcript } from "./state.ts";

/** At an entry where histories part: a switch between them. */
export function BranchSwitch({
  transcript,
  branches,
  seq,
}: {
  transcript: Transcript;
  branches: Branches | undefined;
  seq: number;
}) {
  if (!branches) return null;
  const parting = branches.branches.filter(({ forkSeq, parentBranch }) => forkSeq === seq && parentBranch !== null);
  const forks = branches.forks.filter(({ forkSeq }) => forkSeq === seq);
  if (parting.length === 0 && forks.length === 0) return null;
  const parents = new Set(parting.map(({ parentBranch }) => parentBranch));
  const choices = branches.branches.filter((one) => parting.includes(one) || parents.has(one.branch));
  const open = (branch: number | undefined) => {
    transcript.branch.value = branch;
    void transcript.openAt(seq);
  };
  return (
    <div class="branch-switch">
      <span class="soft small">Histories part here:</span>
      {parting.length > 0 &&
        choices.map(({ branch, active }) => {
          const isShown = transcript.branch.value === undefined ? active : transcript.branch.value === branch;
          return (
            <button
              key={branch}
              type="button"
              class="chip"
              aria-pressed={isShown}
              onClick={() => open(active ? undefined : branch)}
            >
              Branch {branch}
              {active ? " (active)" : ""}
            </button>
          );
        })}
      {forks.map(({ key, displayName }) => (
        <a key={key} class="chip" href={sessionHref(key)}>
          Fork: {displayName ?? describeKey(key)}
        </a>
      ))}
    </div>
  );
}
