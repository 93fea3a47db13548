import { z } from "@hono/zod-openapi";

const ownerSchema = z
  .object({
    channel: z.string().openapi({ example: "telegram" }),
    id: z.string().openapi({ example: "5054873275" }),
    addedBy: z.string().optional().describe("Absent for an id of the setting `turn.owners`, which is changed there."),
    addedAt: z.number().optional(),
  })
  .openapi("Owner");

const unknownPersonSchema = z
  .object({
    channel: z.string().optional().describe("Absent for a program without a channel: name `local` to add the id."),
    id: z.string(),
    name: z.string().optional().describe("The name that the channel gave."),
    key: z.string().describe("The key of their session."),
    since: z.number(),
  })
  .openapi("UnknownPerson");

export const peopleSchema = z
  .object({
    owners: z.array(ownerSchema),
    person: z
      .object({ channel: z.string().optional(), id: z.string(), isOwner: z.boolean() })
      .optional()
      .describe("The person of the session that was asked for; absent when it belongs to nobody or to a group."),
    unknown: z.array(unknownPersonSchema).describe("The newest people who wrote and are not known."),
  })
  .openapi("People");
