(function () {
"use strict";
var CHAR = 6.7, PAD = 3, TEXT_MIN = 20, NS = "http://www.w3.org/2000/svg";

function setup(svg) {
	var scope = (svg.closest && svg.closest(".flame-box")) || svg;
	var part = function (name) { return scope.querySelector(name); };
	var reset = part(".flame-reset"), details = part(".flame-details");
	var match = part(".flame-match"), search = part(".flame-search");
	var frames = [], whole = 1200, zoomed = null;

	Array.prototype.forEach.call(svg.querySelectorAll("g.f"), function (g) {
		var rect = g.querySelector("rect"), title = g.querySelector("title").textContent;
		var f = { g: g, rect: rect, text: g.querySelector("text"), title: title,
			name: title.split("\n")[0],
			x: +rect.getAttribute("x"), y: +rect.getAttribute("y"),
			w: +rect.getAttribute("width") };
		f.label = f.text ? f.text.textContent : f.name;
		g.flame = f;
		frames.push(f);
	});

	function show(f, x, w, isUp) {
		f.g.classList.toggle("up", isUp);
		f.g.classList.toggle("thin", w < 3);
		f.g.classList.remove("hidden");
		f.rect.setAttribute("x", x.toFixed(2));
		f.rect.setAttribute("width", Math.max(w, 0.1).toFixed(2));
		var chars = Math.floor((w - 2 * PAD) / CHAR);
		if (w < TEXT_MIN) {
			if (f.text) f.text.textContent = "";
			return;
		}
		if (!f.text) {
			f.text = document.createElementNS(NS, "text");
			f.text.setAttribute("y", f.y + 12.5);
			f.g.appendChild(f.text);
		}
		/* The short name, unless it was cut: then there may be room for all of it. */
		var name = w > f.w && /\u2026$/.test(f.label) ? f.name : f.label;
		f.text.setAttribute("x", (x + PAD).toFixed(2));
		f.text.textContent = name.length <= chars ? name :
			name.replace(/\u2026$/, "").slice(0, Math.max(chars - 1, 0)) + "\u2026";
	}

	function zoom(to) {
		var left = to.x, right = to.x + to.w, scale = whole / to.w, eps = 0.02;
		frames.forEach(function (f) {
			var isInside = f.x >= left - eps && f.x + f.w <= right + eps;
			var isAround = f.x <= left + eps && f.x + f.w >= right - eps;
			if (f.y >= to.y && isInside)
				show(f, (f.x - left) * scale, f.w * scale, false);
			else if (f.y < to.y && isAround)
				show(f, 0, whole, true);
			else
				f.g.classList.add("hidden");
		});
		zoomed = to === frames[0] ? null : to;
		if (reset) reset.classList.toggle("hidden", !zoomed);
	}

	function find(words) {
		var pattern = null, spans = [], sum = 0, end = -1, count = 0;
		if (words) {
			try {
				pattern = new RegExp(words, "i");
			} catch (e) {
				pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
			}
		}
		frames.forEach(function (f) {
			var isHit = pattern !== null && f !== frames[0] && pattern.test(f.name);
			f.g.classList.toggle("hit", isHit);
			if (isHit) {
				spans.push([f.x, f.x + f.w]);
				count++;
			}
		});
		spans.sort(function (a, b) { return a[0] - b[0]; });
		spans.forEach(function (s) {
			sum += Math.max(0, s[1] - Math.max(end, s[0]));
			end = Math.max(end, s[1]);
		});
		if (match)
			match.textContent = pattern === null ? " " : "found: " + count +
				(count === 1 ? " frame, " : " frames, ") + (100 * sum / whole).toFixed(1) + " %";
	}

	function frameOf(e) {
		var g = e.target.closest ? e.target.closest("g.f") : null;
		return g && svg.contains(g) ? g.flame : null;
	}

	svg.addEventListener("click", function (e) {
		var f = frameOf(e);
		if (f) zoom(f);
	});
	svg.addEventListener("mouseover", function (e) {
		var f = frameOf(e);
		if (details) details.textContent = f ? f.title.split("\n").join("   ") : " ";
	});
	function back() {
		zoom(frames[0]);
	}
	if (reset) reset.addEventListener("click", back);
	if (search) {
		if (search.tagName.toLowerCase() === "input")
			search.addEventListener("input", function () { find(search.value); });
		else
			search.addEventListener("click", ask);
	}
	function ask() {
		var words = window.prompt("Functions whose name contains (a regular expression):", "");
		if (words !== null) find(words);
	}
	document.addEventListener("keydown", function (e) {
		if (e.target && /^(input|textarea)$/i.test(e.target.tagName || "")) {
			if (e.key === "Escape" && e.target === search) {
				search.value = "";
				find("");
			}
			return;
		}
		if (e.key === "Escape") {
			back();
			find("");
		} else if (e.key === "/" && search && !e.ctrlKey && !e.metaKey) {
			e.preventDefault();
			if (search.focus && search.tagName.toLowerCase() === "input") search.focus();
			else ask();
		}
	});
}

Array.prototype.forEach.call(document.querySelectorAll("svg.flame"), setup);
})();
