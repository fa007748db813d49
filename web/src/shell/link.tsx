/** A link to a screen. It changes the screen without loading the page again, and works as a link in a new tab. */
import type { JSX } from "solid-js";
import { currentRoute, formatPath, navigate, type Route } from "../routes.ts";

interface LinkProps {
  readonly to: Route;
  readonly class?: string | undefined;
  readonly label?: string | undefined;
  readonly children: JSX.Element;
}

export function Link(props: LinkProps): JSX.Element {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(props.to);
  };
  const isCurrent = (): boolean => formatPath(currentRoute()) === formatPath(props.to);
  return (
    <a
      href={formatPath(props.to)}
      class={props.class}
      aria-label={props.label}
      aria-current={isCurrent() ? "page" : undefined}
      onClick={follow}
    >
      {props.children}
    </a>
  );
}
