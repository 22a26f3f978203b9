// The one binding of htm to preact: every part writes html`<p>…</p>`.
import htm from "htm";
import { h } from "preact";
import type { VNode } from "preact";

export const html = htm.bind(h) as unknown as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;
