import type { Message } from "../domain/index.ts";

/** The answer is mentioned once, long before the end of the conversation. */
export const question = "Where did we put the spare key of the boathouse?";
const fact = "I hung the spare key of the boathouse behind the blue oar, on the left wall. Nobody else knows.";

const days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const jobs = [
  ["sand the hull", "The old varnish comes off in flakes below the waterline", "80-grit paper first, then 120"],
  ["order the timber", "Two of the ribs are soft at the stern", "larch from the mill in Aldersund, 4.2 m, 38 mm"],
  ["repair the pump", "The bilge pump draws air at the second joint", "a new clamp, size 25, and tape on the thread"],
  [
    "paint the deck",
    "The grey paint of last year has cracked around the mast",
    "two thin coats, ten hours between them",
  ],
  [
    "sew the sail",
    "There is a tear of a hand's width along the third seam",
    "a patch of 150 g cloth, zigzag, waxed thread",
  ],
  ["check the engine", "It starts only at the third try when it is cold", "new glow plugs, torque 18 Nm, part GP-2207"],
  [
    "write the log",
    "The harbour master wants the list of works by the end of the month",
    "one page, signed by both of us",
  ],
] as const;

/** Generates a few hundred messages about work on a boat; always the same ones. */
export function createStory(): Message[] {
  const messages: Message[] = [];
  const start = Date.UTC(2026, 2, 2, 8);
  const say = (role: "user" | "assistant", content: Message["content"]): void => {
    messages.push({ id: `demo-${messages.length}`, role, content, time: start + messages.length * 5 * 3_600_000 });
  };
  for (let day = 0; day < 60; day += 1) {
    const [job, trouble, remedy] = jobs[(day * 3) % jobs.length] ?? jobs[0];
    const name = days[day % 7] ?? "Monday";
    say("user", `${name}: I want to ${job} today. ${trouble}. What do I need, and how long will it take me?`);
    say(
      "assistant",
      `For that you need ${remedy}. Plan ${2 + (day % 5)} hours. We decided to keep the total under ${400 + day * 5} crowns, so buy no more than that.`,
    );
    if (day % 4 === 1) {
      const callId = `call-${day}`;
      say("assistant", [{ type: "tool_call", callId, name: "read_file", input: { path: `/boat/log/day-${day}.md` } }]);
      messages.push({
        id: `demo-${messages.length}`,
        role: "tool",
        content: [
          {
            type: "tool_result",
            callId,
            output: `Day ${day}: ${job}, ${trouble.toLowerCase()}. Hours so far: ${day * 3}.`,
          },
        ],
        time: start + messages.length * 5 * 3_600_000,
      });
    }
    if (day === 17) {
      say("user", `By the way: ${fact}`);
      say("assistant", "I will remember that.");
    }
    say(
      "user",
      `Done, mostly. It took ${3 + (day % 4)} hours, and the weather turned at noon. TODO for next week: look at it again.`,
    );
    say(
      "assistant",
      `Good. I have noted ${3 + (day % 4)} hours for "${job}" and that it has to be looked at again on ${days[(day + 2) % 7]}.`,
    );
  }
  return messages;
}
