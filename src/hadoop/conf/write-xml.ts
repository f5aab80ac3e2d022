/** One property to write. */
export interface WrittenProperty {
  readonly name: string;
  readonly value: string;
  /** Where the value comes from, as Hadoop records it in files that it writes (org.apache.hadoop.conf.Configuration#writeXml). */
  readonly source?: string;
}

/** The text of a Hadoop configuration file. */
export function writeProperties(properties: readonly WrittenProperty[]): string {
  const lines = properties.map((property) => `  ${propertyXml(property)}\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<configuration>\n${lines.join("")}</configuration>\n`;
}

export function propertyXml({ name, value, source }: WrittenProperty): string {
  const from = source === undefined ? "" : `<final>false</final><source>${escapeXml(source)}</source>`;
  return `<property><name>${escapeXml(name)}</name><value>${escapeXml(value)}</value>${from}</property>`;
}

/** XML 1.0 cannot represent other control characters. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("\r", "&#13;");
}
