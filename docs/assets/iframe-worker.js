/* A browser starts no Worker on a page that was opened as a file. This one runs the script in a hidden frame instead, so
   that the theme's search works there. It is loaded before the theme's own script (extra.polyfills in mkdocs.yml). */
"use strict";

class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.waiting = [];
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    this.inside = this.frame.contentWindow;
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    const script = this.frame.contentDocument.createElement("script");
    script.addEventListener("load", () => this.start());
    script.src = url;
    this.frame.contentDocument.body.append(script);
  }

  /* Messages wait until the script is there to take them. */
  start() {
    const messages = this.waiting;
    this.waiting = null;
    for (const message of messages) this.postMessage(message);
  }

  postMessage(data) {
    if (this.waiting) this.waiting.push(data);
    else this.inside.dispatchEvent(new MessageEvent("message", { data }));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
