/** Starts the page: signed in with the key of this browser, or with instructions to sign in. */
import { render } from "solid-js/web";
import "./styles/theme.css";
import "./styles/base.css";
import "./styles/shell.css";
import { forgetPageKey, keepPageKey, readPageKey } from "./page-key.ts";
import { App } from "./shell/app.tsx";
import { SignedOut } from "./shell/signed-out.tsx";

keepPageKey();
const key = readPageKey();
const isBadLink = location.pathname === "/sign-in";
const place = document.getElementById("page");
if (place === null) throw new Error("the document has no element #page");
if (key === undefined || isBadLink) {
  render(() => <SignedOut isBadLink={isBadLink} />, place);
} else {
  const signOut = (): void => {
    forgetPageKey();
    location.assign("/");
  };
  render(() => <App pageKey={key} onSignedOut={signOut} />, place);
}
