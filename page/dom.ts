import { plain } from "./words.ts";

/** An element with text and child elements. Text is never parsed as HTML: names, hosts and reasons come from programs. */
export function el(
  name: string,
  attributes: Readonly<Record<string, string>>,
  content: readonly (string | Element)[],
): HTMLElement {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) if (value !== "") element.setAttribute(attribute, value);
  element.append(
    ...content.filter((part) => part !== "").map((part) => (typeof part === "string" ? plain(part) : part)),
  );
  return element;
}

const svgNames = "http://www.w3.org/2000/svg";

export function svg(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: readonly (string | Element)[] = [],
): SVGElement {
  const element = document.createElementNS(svgNames, name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, String(value));
  element.append(...content);
  return element;
}

/** A link to a web page; an address with any other scheme, which a program may have made up, is shown as text. */
export function link(url: string, words: string): HTMLElement {
  if (!/^https?:\/\//.test(url)) return el("span", {}, [`${words} ${url}`]);
  return el("a", { href: url, rel: "noreferrer", target: "_blank" }, [words]);
}

/** Sets a form's fields from the page's address. */
export function restore(form: HTMLElement | null): void {
  for (const [name, value] of new URLSearchParams(location.search)) {
    const field = form instanceof HTMLFormElement ? form.elements.namedItem(name) : null;
    if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
  }
}

/** Keyboard users can scroll wide tables too, in which nothing else takes the focus. */
export function scrollByKeyboard(): void {
  for (const place of document.querySelectorAll("details .wide")) {
    const name = place.closest("details")?.querySelector("summary")?.textContent ?? "";
    for (const [attribute, value] of [
      ["tabindex", "0"],
      ["role", "region"],
      ["aria-label", name],
    ] as const)
      place.setAttribute(attribute, value);
  }
}

/** Replaces the content of an element; the focus stays if an equal element exists again. */
export function fill(id: string, content: readonly (string | Element)[]): void {
  const place = document.getElementById(id);
  if (place === null) return;
  const focused = document.activeElement;
  const focusOf = focused !== null && place.contains(focused) ? [focused.id, focused.textContent] : undefined;
  place.replaceChildren(...content.filter((part) => part !== ""));
  if (focusOf === undefined) return;
  const same = [...place.querySelectorAll<HTMLElement>("button, input")].find(
    (one) => one.id === focusOf[0] && one.textContent === focusOf[1],
  );
  same?.focus();
}
