// Browsers refuse workers to pages opened from files. The search of the theme needs one: here it is
// a hidden frame that answers to the same calls.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = (this.frame = document.createElement("iframe"))
      frame.hidden = true
      frame.srcdoc = "<!doctype html>"
      this.ready = new Promise((resolve, reject) => {
        frame.onload = () => {
          const inside = frame.contentWindow
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
          const script = inside.document.createElement("script")
          script.src = new URL(url, location)
          script.onload = () => resolve(inside)
          script.onerror = reject
          inside.document.head.appendChild(script)
        }
      })
      document.body.appendChild(frame)
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
