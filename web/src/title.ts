// The title of the tab: what is on the page, then the name of the service.
import { useEffect } from "preact/hooks";

export function use_title(text: string | undefined) {
  useEffect(() => {
    document.title = text ? `${text} – Slipway` : "Slipway";
  }, [text]);
}
