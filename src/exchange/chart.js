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
	function tell(e) {
		var at = svg.createSVGPoint();
		at.x = e.clientX;
		at.y = e.clientY;
		var x = at.matrixTransform(svg.getScreenCTM().inverse()).x;
		x = Math.max(left, Math.min(right, x));
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
			(isBytes ? bytes(points[low][1]) : points[low][1].toLocaleString("en"));
	}
	svg.addEventListener("mousemove", tell);
	svg.addEventListener("mouseleave", function () {
		cursor.style.visibility = "hidden";
		says.textContent = " ";
	});
}
Array.prototype.forEach.call(document.querySelectorAll("svg.chart[data-points]"), setup);
})();
