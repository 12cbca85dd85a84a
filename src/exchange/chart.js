(function () {
"use strict";
function bytes(v) {
	var units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"], i = 0, size = Math.abs(v);
	while (size >= 1024 && i < 6) {
		size /= 1024;
		i++;
	}
	return (v < 0 ? "-" : "") + (i ? size.toFixed(1) : size) + " " + units[i];
}
function setup(svg) {
	var cursor = svg.querySelector(".chart-cursor"), says = svg.querySelector(".chart-says");
	var points = svg.getAttribute("data-points").split(" ").map(function (p) {
		return p.split(",").map(Number);
	});
	var left = +svg.getAttribute("data-left"), right = +svg.getAttribute("data-right");
	var start = +svg.getAttribute("data-start"), end = +svg.getAttribute("data-end");
	var isBytes = svg.getAttribute("data-unit") === "bytes";
	var top = +svg.getAttribute("data-top"), bottom = +svg.getAttribute("data-bottom");
	var lowest = +svg.getAttribute("data-low"), highest = +svg.getAttribute("data-high");
	var layers = Array.prototype.map.call(svg.querySelectorAll("g.layer"), function (g) {
		return {
			name: g.querySelector("title").textContent,
			isLine: !!g.querySelector(".layer-line"),
			values: g.getAttribute("data-values").split(" ").map(Number)
		};
	});
	function number(v) {
		return isBytes ? bytes(v) : v.toLocaleString("en");
	}
	/* The layer that lies under the pointer, and what it holds there. */
	function layerAt(point, y) {
		var value = lowest + (bottom - y) / (bottom - top) * (highest - lowest), sum = 0;
		for (var i = 0; i < layers.length; i++) {
			sum += layers[i].values[point];
			if (value <= sum && !layers[i].isLine)
				return layers[i].name + " " + number(layers[i].values[point]) + " of ";
		}
		return "";
	}
	function tell(e) {
		var at = svg.createSVGPoint();
		at.x = e.clientX;
		at.y = e.clientY;
		at = at.matrixTransform(svg.getScreenCTM().inverse());
		var x = Math.max(left, Math.min(right, at.x));
		var t = start + (x - left) / (right - left) * (end - start), low = 0, high = points.length - 1;
		while (low < high) {
			var middle = (low + high + 1) >> 1;
			if (points[middle][0] <= t) low = middle;
			else high = middle - 1;
		}
		cursor.setAttribute("x1", x);
		cursor.setAttribute("x2", x);
		cursor.style.visibility = "visible";
		says.textContent = (t / 1000).toFixed(3) + " s: " +
			layerAt(low, at.y) + number(points[low][1]);
	}
	svg.addEventListener("mousemove", tell);
	svg.addEventListener("mouseleave", function () {
		cursor.style.visibility = "hidden";
		says.textContent = " ";
	});
}
Array.prototype.forEach.call(document.querySelectorAll("svg.chart[data-points]"), setup);
})();
