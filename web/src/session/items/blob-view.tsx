/** An image that was sent or made, or a file to save. The bytes are read with the key of the page. */
import { createResource, createSignal, onCleanup, Show, type JSX } from "solid-js";
import { errorOf } from "../../../../src/client/index.ts";
import type { BlobPart } from "../../../../src/domain/events.ts";
import { visible } from "../../format.ts";
import { useServer } from "../../server.tsx";

/** The types that the server reports after it looked at the bytes. An SVG is not one of them. */
const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function BlobView(props: { readonly blob: BlobPart }): JSX.Element {
  const { client } = useServer();
  const name = (): string => visible((props.blob.name ?? props.blob.mediaType).slice(0, 200));
  const isImage = (): boolean => IMAGES.has(props.blob.mediaType);
  const [isWanted, setWanted] = createSignal(false);
  const [url] = createResource(
    () => (isImage() || isWanted() ? props.blob.hash : undefined),
    async (hash) => {
      const { data, error, response } = await client.GET("/v1/blobs/{hash}", {
        params: { path: { hash } },
        parseAs: "blob",
      });
      if (data === undefined) throw errorOf(error, response.status);
      const type = response.headers.get("content-type") ?? "";
      const isShown = IMAGES.has(type);
      // Other bytes get a type that no browser shows, regardless of the type in the log.
      const bytes = data;
      const address = URL.createObjectURL(new Blob([bytes], { type: isShown ? type : "application/octet-stream" }));
      onDispose.push(() => URL.revokeObjectURL(address));
      return { address, isShown };
    },
  );
  const onDispose: (() => void)[] = [];
  onCleanup(() => onDispose.forEach((dispose) => dispose()));
  const value = () => (url.error === undefined ? url() : undefined);
  return (
    <figure class="blob">
      <Show when={value()?.isShown}>
        <img src={value()?.address} alt={name()} />
      </Show>
      <figcaption class="small muted">
        {name()}
        <Show when={url.error !== undefined}>
          <span class="bad"> could not be read: {(url.error as Error).message}</span>
        </Show>
        <Show when={!isImage() && !isWanted()}>
          <button class="plain small" onClick={() => setWanted(true)}>
            Read
          </button>
        </Show>
        <Show when={value() !== undefined && !value()?.isShown}>
          <a href={value()?.address} download={name()}>
            Save
          </a>
        </Show>
      </figcaption>
    </figure>
  );
}
