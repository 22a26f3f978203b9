// Where the service is seen from here: behind a proxy its paths may begin with a prefix, which is that of the page itself.
export const base = new URL(".", document.baseURI).pathname;

/** The address of a path of the API ("/v1/jobs") from this page. */
export const address = (path: string) => base + path.slice(1);
