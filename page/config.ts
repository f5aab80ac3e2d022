import { ask } from "./ask.ts";
import { el, fill } from "./dom.ts";
import type { Config, Live } from "./live.ts";

const section = document.getElementById("config");
const withDefaults = document.getElementById("with-defaults");
let settings: readonly Setting[] = [];

interface Setting {
  readonly key: string;
  readonly value: string;
  readonly source: string;
}

/** For viewers who may see the job; settings do not change while it runs. */
export function offerConfig({ mayLook }: Live): void {
  if (mayLook === true) section?.toggleAttribute("hidden", false);
}

async function read(): Promise<void> {
  try {
    const { xml = "", error = "" } = await ask<Config>("api/v1/settings");
    settings = settingsOf(xml);
    fill("config-place", [error]);
    show();
  } catch {
    fill("config-place", ["No answer: the job may have ended."]);
  }
}

/** Parses Hadoop's format of a configuration. */
function settingsOf(xml: string): Setting[] {
  if (xml === "") return [];
  const properties = new DOMParser().parseFromString(xml, "application/xml").querySelectorAll("property");
  return [...properties].map((property) => {
    const [key = "", value = "", source = ""] = ["name", "value", "source"].map(
      (name) => property.querySelector(name)?.textContent ?? "",
    );
    return { key, value, source };
  });
}

function show(): void {
  const all = withDefaults instanceof HTMLInputElement && withDefaults.checked;
  const shown = settings
    .filter(({ source }) => all || source !== "default")
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  fill(
    "config-rows",
    shown.map(({ key, value, source }) =>
      el("tr", {}, [el("th", { scope: "row" }, [key]), el("td", { class: "cause" }, [value]), el("td", {}, [source])]),
    ),
  );
}

section?.addEventListener("toggle", () => {
  if (section instanceof HTMLDetailsElement && section.open) void read();
});
withDefaults?.addEventListener("change", show);
