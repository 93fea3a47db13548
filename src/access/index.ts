export type { AccessToken, IssuedToken, TokenState } from "./access-token.ts";
export {
  type AccessTokenService,
  createAccessTokenService,
  type NewAccessToken,
} from "./access-token-service.ts";
