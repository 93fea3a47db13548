/** The route by which clients on this machine recognise the gateway; it needs no token and reveals nothing. */
import { VarveError } from "../../domain/index.ts";
import type { GatewayApp, GatewayContext } from "../context.ts";
import { createGatewayProof, noncePattern, proofPath, proofSecretPath } from "../gateway-proof.ts";
import { readOrCreateToken } from "../token-file.ts";

export function addProofRoute(app: GatewayApp, gateway: GatewayContext): void {
  const secret = readOrCreateToken(proofSecretPath(gateway.varve.settings.home), gateway.random);
  app.get(proofPath, (c) => {
    const nonce = c.req.query("nonce") ?? "";
    if (!noncePattern.test(nonce)) {
      throw new VarveError("BAD_REQUEST", "The nonce is not a hexadecimal number of 32 to 64 digits.", {
        remedy: "Send a random one: ?nonce=….",
      });
    }
    const body = JSON.stringify({ proof: createGatewayProof(secret, gateway.address.port, nonce) });
    // The length keeps the connection open for the request that follows.
    return c.body(body, 200, { "Content-Type": "application/json", "Content-Length": String(body.length) });
  });
}
