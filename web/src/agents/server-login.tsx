/** Logs in to an MCP server and out of it. The login happens on a page of the server, in a new tab. */
import { createSignal, onCleanup, Show, type JSX } from "solid-js";
import type { components } from "../../../src/client/index.ts";
import { createAction } from "../action.ts";
import { visible } from "../format.ts";
import { dataOf } from "../request.ts";
import { useServer } from "../server.tsx";
import { toSafeUrl } from "../session/markdown/links.ts";

type Login = components["schemas"]["McpLogin"];

const POLL_MS = 1_000;

interface ServerLoginProps {
  readonly name: string;
  /** Empty for the folder in which the server was started. */
  readonly folder: string;
  /** Called when the person is logged in or out. */
  onChange(): void;
}

export function ServerLogin(props: ServerLoginProps): JSX.Element {
  const { client } = useServer();
  const [login, setLogin] = createSignal<Login>();
  const [result, setResult] = createSignal("");
  let isGone = false;
  onCleanup(() => (isGone = true));
  const path = () => ({ name: props.name });
  const folder = () => (props.folder === "" ? {} : { cwd: props.folder });
  const url = (): string | undefined => {
    const address = login()?.status === "waiting" ? login()?.url : undefined;
    return address === undefined ? undefined : toSafeUrl(address);
  };

  const logIn = createAction(async () => {
    setResult("");
    setLogin(await dataOf(client.POST("/v1/mcp/{name}/login", { params: { path: path() }, body: folder() })));
    const address = url();
    if (address !== undefined) window.open(address, "_blank", "noopener,noreferrer"); // the link is for those who block it
    while (login()?.status === "waiting" && !isGone) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const params = { path: path(), query: folder() };
      setLogin(await dataOf(client.GET("/v1/mcp/{name}/login", { params })));
    }
    setResult(describeLogin(login()));
    if (login()?.status === "done") props.onChange();
  });
  const logOut = createAction(async () => {
    setResult("");
    const params = { path: path() };
    const { forgotten } = await dataOf(client.POST("/v1/mcp/{name}/logout", { params, body: folder() }));
    setResult(forgotten ? "Logged out." : "You were not logged in.");
    props.onChange();
  });

  return (
    <div class="login small">
      <button disabled={logIn.isRunning()} onClick={() => void logIn.run()} aria-label={`Log in to ${props.name}`}>
        {logIn.isRunning() ? "Logging in…" : "Log in"}
      </button>
      <button disabled={logOut.isRunning()} onClick={() => void logOut.run()} aria-label={`Log out of ${props.name}`}>
        Log out
      </button>
      <span role="status">
        <Show when={url()} fallback={visible(result())}>
          {(address) => (
            <a href={address()} target="_blank" rel="noopener noreferrer">
              Open the login page
            </a>
          )}
        </Show>
      </span>
      <Show when={logIn.error() ?? logOut.error()}>
        {(text) => (
          <span class="bad" role="alert">
            {visible(text())}
          </span>
        )}
      </Show>
    </div>
  );
}

function describeLogin(login: Login | undefined): string {
  switch (login?.status) {
    case "done":
      return "Logged in.";
    case "not_needed":
      return "No login is needed: the server is ready.";
    case "declined":
    case "cancelled":
      return `The login was ${login.status}.`;
    case "failed":
      return `The login failed: ${login.reason ?? "unknown reason"}`;
    default:
      return "The login ended.";
  }
}
