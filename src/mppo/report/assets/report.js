
"use strict";
(() => {
  const SVG = document.querySelector("svg")?.namespaceURI;
  const make = (name, attributes, parent) => {
    const made = name === "div" || name === "p" || name === "span" || name === "b" || name === "button"
      ? document.createElement(name) : document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (parent) parent.appendChild(made);
    return made;
  };
  const digits = (value, range) => {
    if (!Number.isFinite(value)) return "–";
    const size = Math.max(Math.abs(value), range / 1000);
    if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2);
    const places = Math.max(0, Math.min(8, 3 - Math.ceil(Math.log10(range || 1))));
    const shown = value.toLocaleString("en", { maximumFractionDigits: places });
    return /[1-9]/.test(shown) ? shown.replace("-", "−") : "0";
  };
  const steps = (value) => {
    for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]])
      if (Math.abs(value) >= unit) return Number((value / unit).toPrecision(3)) + letter;
    return String(Math.round(value));
  };
  const points = (path) => {
    const numbers = (path ? path.getAttribute("d") : "").match(/-?[\d.]+/g) || [];
    const found = [];
    for (let i = 0; i + 1 < numbers.length; i += 2) found.push([+numbers[i], +numbers[i + 1]]);
    return found;
  };
  const at = (line, x) => {
    if (!line.length || x < line[0][0] - .6 || x > line[line.length - 1][0] + .6) return NaN;
    let low = 0, high = line.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (line[middle][0] <= x) low = middle; else high = middle;
    }
    const [x0, y0] = line[low], [x1, y1] = line[high];
    return x1 === x0 ? y1 : y0 + (y1 - y0) * Math.min(1, Math.max(0, (x - x0) / (x1 - x0)));
  };

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.svg = figure.querySelector(".drawing");
      this.plot = this.svg.querySelector(".plot");
      const number = (name) => Number(this.plot.dataset[name]);
      const size = (name) => Number(this.plot.getAttribute(name));
      this.domain = [number("x0"), number("x1")];
      this.range = [number("y0"), number("y1")];
      this.log = "log" in this.plot.dataset;
      this.width = size("width"); this.height = size("height"); this.left = size("x");
      this.zoomed = [0, this.width];
      this.zoom = this.plot.querySelector(".zoom");
      this.ticks = this.svg.querySelector(".x-ticks");
      this.baseline = Number(this.ticks.firstElementChild?.getAttribute("y") || 0);
      this.labels = [...figure.querySelectorAll(".legend button")];
      this.cursor = null;
      figure.classList.add("live");
      this.svg.setAttribute("tabindex", "0");
      this.labels.forEach((button) => {
        button.disabled = false;
        button.addEventListener("click", () => this.toggle(button));
      });
      this.plot.insertAdjacentElement("afterbegin", make("rect", { width: this.width, height: this.height, fill: "none", "pointer-events": "all" }));
      this.plot.addEventListener("pointermove", (event) => this.move(event));
      this.plot.addEventListener("pointerleave", () => this.leave());
      this.plot.addEventListener("pointerdown", (event) => this.press(event));
      this.plot.addEventListener("pointerup", (event) => this.release(event));
      this.plot.addEventListener("pointercancel", () => this.unbrush());
      this.plot.addEventListener("dblclick", () => this.show(0, this.width));
      this.svg.addEventListener("keydown", (event) => this.key(event));
      this.svg.addEventListener("blur", () => this.leave());
    }
    series() {
      if (!this.read) this.read = [...this.zoom.querySelectorAll(".series")].map((group) => {
        const band = points(group.querySelector(".band"));
        const half = band.length >> 1;
        return {
          group, mean: points(group.querySelector(".mean")),
          high: band.slice(0, half), low: band.slice(half).reverse(),
          name: this.labels[group.dataset.series]?.getAttribute("aria-label") || "",
          swatch: this.labels[group.dataset.series]?.querySelector(".swatch"),
        };
      });
      return this.read;
    }
    toggle(button) {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      this.figure.querySelectorAll(`svg [data-series="${button.dataset.series}"]`)
        .forEach((group) => group.classList.toggle("off", !shown));
    }
    place(event) {
      const box = this.svg.getBoundingClientRect();
      const unit = this.svg.viewBox.baseVal.width / box.width;
      return Math.min(this.width, Math.max(0, (event.clientX - box.left) * unit - this.left));
    }
    inside(x) { const [a, b] = this.zoomed; return a + x * (b - a) / this.width; }
    valueOf(y) {
      const [low, high] = this.log ? this.range.map(Math.log10) : this.range;
      const value = high - y / this.height * (high - low);
      return this.log ? 10 ** value : value;
    }
    stepsAt(x) { return this.domain[0] + x / this.width * (this.domain[1] - this.domain[0]); }
    move(event) {
      const x = this.place(event);
      if (this.pressed !== undefined) return this.brushTo(x);
      this.point(x);
    }
    point(x) {
      this.cursor = x;
      const inside = this.inside(x);
      this.cross ||= make("path", { class: "cross" }, this.plot);
      this.cross.setAttribute("d", `M${x} 0v${this.height}`);
      this.tip ||= make("div", { class: "tip", role: "status" }, this.figure);
      this.tip.replaceChildren();
      const head = make("p", {}, this.tip);
      head.textContent = `${steps(this.stepsAt(inside))} steps`;
      const span = this.range[1] - this.range[0];
      for (const one of this.series()) {
        if (one.group.classList.contains("off")) continue;
        const y = at(one.mean, inside);
        if (!Number.isFinite(y)) continue;
        const row = make("p", {}, this.tip);
        if (one.swatch) row.appendChild(one.swatch.cloneNode(true));
        make("span", {}, row).textContent = one.name;
        const low = this.valueOf(at(one.low, inside)), high = this.valueOf(at(one.high, inside));
        const around = Number.isFinite(low) ? ` (${digits(low, span)} … ${digits(high, span)})` : "";
        make("b", {}, row).textContent = digits(this.valueOf(y), span) + around;
      }
      const box = this.svg.getBoundingClientRect(), outer = this.figure.getBoundingClientRect();
      const unit = box.width / this.svg.viewBox.baseVal.width;
      const across = box.left - outer.left + (this.left + x) * unit;
      const room = outer.width - this.tip.offsetWidth;
      const wanted = x > this.width / 2 ? across - this.tip.offsetWidth - 14 : across + 14;
      this.tip.style.left = `${Math.max(0, Math.min(room, wanted))}px`;
      this.tip.style.top = `${box.top - outer.top + 8}px`;
    }
    leave() {
      this.cross?.remove(); this.tip?.remove();
      this.cross = this.tip = undefined;
    }
    press(event) {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      this.pressed = this.place(event);
      this.plot.setPointerCapture(event.pointerId);
      event.preventDefault();
    }
    brushTo(x) {
      this.leave();
      this.brush ||= make("rect", { class: "brush", y: 0, height: this.height }, this.plot);
      this.brush.setAttribute("x", Math.min(x, this.pressed));
      this.brush.setAttribute("width", Math.abs(x - this.pressed));
    }
    unbrush() { this.brush?.remove(); this.brush = this.pressed = undefined; }
    release(event) {
      if (this.pressed === undefined) return;
      const [a, b] = [this.pressed, this.place(event)].sort((p, q) => p - q);
      this.unbrush();
      if (b - a > 6) this.show(this.inside(a), this.inside(b));
    }
    show(a, b) {
      if (b - a < this.width / 200) return;
      a = Math.max(0, a); b = Math.min(this.width, b);
      this.zoomed = [a, b];
      const scale = this.width / (b - a), whole = a <= 0 && b >= this.width;
      this.zoom.setAttribute("transform", `scale(${scale} 1) translate(${-a} 0)`);
      this.figure.classList.toggle("zoomed", !whole);
      const first = this.stepsAt(a), last = this.stepsAt(b);
      const rough = (last - first) / 5, power = 10 ** Math.floor(Math.log10(rough));
      const stride = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * .7);
      this.ticks.replaceChildren();
      for (let t = Math.ceil(first / stride - 1e-9) * stride; t <= last + stride * 1e-6; t += stride) {
        const x = this.left + (t - first) / (last - first) * this.width;
        make("text", { x, y: this.baseline, "text-anchor": "middle" }, this.ticks).textContent = steps(t);
      }
      if (whole) { this.button?.remove(); this.button = undefined; }
      else if (!this.button) {
        this.button = make("button", { type: "button", class: "reset" }, this.figure);
        this.button.textContent = "whole run";
        this.button.addEventListener("click", () => this.show(0, this.width));
      }
      this.leave();
    }
    key(event) {
      const x = this.cursor ?? this.width / 2;
      const [a, b] = this.zoomed, middle = this.inside(x);
      const around = (factor) => this.show(middle - (middle - a) * factor, middle + (b - middle) * factor);
      const keys = {
        ArrowLeft: () => this.point(Math.max(0, x - this.width / 50)),
        ArrowRight: () => this.point(Math.min(this.width, x + this.width / 50)),
        "+": () => around(.5), "=": () => around(.5), "-": () => around(2),
        0: () => this.show(0, this.width),
        Escape: () => { this.show(0, this.width); this.leave(); },
      };
      if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) { keys[event.key](); event.preventDefault(); }
    }
  }
  document.querySelectorAll("figure.chart").forEach((figure) => {
    if (figure.querySelector(".plot")) new Chart(figure);
  });
  const reveal = () => {
    const found = location.hash && document.getElementById(location.hash.slice(1));
    if (found && found.tagName === "DETAILS") { found.open = true; found.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.values)")];
    opened.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));
})();
