/**
 * How a client recognises the gateway of its home before it sends anything secret: another program may use the port of a
 * gateway that has stopped. Both read a secret in the home folder; the gateway proves that it knows it.
 */
import { createHmac } from "node:crypto";
import { join } from "node:path";

export const proofPath = "/gateway/proof";
/** The client's random text, which makes every proof another one. */
export const noncePattern = /^[0-9a-f]{32,64}$/;

export function proofSecretPath(home: string): string {
  return join(home, "gateway-secret");
}

/** The port is part of the proof, so that a program on another port cannot pass on the proof of the gateway. */
export function createGatewayProof(secret: string, port: number, nonce: string): string {
  return createHmac("sha256", secret).update(`varve gateway\n${port}\n${nonce}`).digest("hex");
}
