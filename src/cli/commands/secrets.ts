import { VarveError } from "../../domain/index.ts";
import { type CommonOptions, withVarve } from "../context.ts";
import { table, when } from "../output.ts";

export async function listCommand(flags: CommonOptions): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const secrets = await varve.secrets.list({ agent: flags.agent });
    output.show(
      secrets.length === 0
        ? "No credentials are kept."
        : table(
            ["ID", "KIND", "STORED"],
            secrets.map((one) => [one.id, one.kind, when(one.createdAt)]),
          ),
    );
    output.result({ secrets });
  });
}

export async function showCommand(named: string | undefined, flags: CommonOptions & { last?: boolean }): Promise<void> {
  await withVarve(flags, async (varve, output) => {
    const [newest] = flags.last ? await varve.secrets.list({ agent: flags.agent, limit: 1 }) : [];
    const id = named ?? newest?.id;
    if (id === undefined) {
      throw new VarveError("BAD_REQUEST", flags.last ? "No credentials are kept." : "No credential is named.", {
        remedy: "Name one by its id (sec_…), or send --last; `varve secrets list` shows them.",
      });
    }
    const text = await varve.secrets.open(id, flags.agent);
    output.show(text);
    output.result({ id, text });
  });
}
