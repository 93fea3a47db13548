import { render } from "preact";
import { call, explainError } from "./api/client.ts";
import { followEvents } from "./api/events.ts";
import { setMe } from "./api/login.ts";
import { Shell } from "./shell.tsx";
import { startRouter } from "./state/router.ts";
import { say } from "./state/toasts.ts";
import { startKeys } from "./ui/keys.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/shell.css";
import "./styles/message.css";
import "./styles/lists.css";

startRouter();
startKeys();
try {
  setMe(await call("GET /api/me", {}));
} catch (error) {
  say(explainError(error), undefined, true);
}
const root = document.querySelector("#app");
if (root) render(<Shell />, root);
void followEvents();
