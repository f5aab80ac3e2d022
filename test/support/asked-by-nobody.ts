import { request } from "node:https";

/** What a web server answers to a caller who does not say who he is: the status, and how he may log in. */
export function askedByNobody(
  url: string,
  ca: string | undefined,
): Promise<{ status: number; login: string | undefined }> {
  return new Promise((resolve, reject) => {
    const call = request(url, { ca, agent: false }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, login: response.headers["www-authenticate"] });
    });
    call.on("error", reject).end();
  });
}
