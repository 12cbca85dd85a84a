(function () {
"use strict";
function key(row, column) {
	var cell = row.cells[column], n = cell.getAttribute("data-n");
	return n === null ? cell.textContent.toLowerCase() : +n;
}
function sort(table, th) {
	var column = th.cellIndex, body = table.tBodies[0];
	var rows = Array.prototype.slice.call(body.rows).filter(function (r) { return !r.classList.contains("other"); });
	var others = Array.prototype.slice.call(body.rows).filter(function (r) { return r.classList.contains("other"); });
	var isDown = th.classList.contains("down") ? false : th.classList.contains("up") ? true : th.classList.contains("number");
	Array.prototype.forEach.call(th.parentNode.cells, function (c) {
		c.classList.remove("up", "down");
	});
	th.classList.add(isDown ? "down" : "up");
	var order = rows.map(function (row, i) { return { row: row, i: i, key: key(row, column) }; });
	order.sort(function (a, b) {
		var less = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
		return (isDown ? -less : less) || a.i - b.i;
	});
	order.forEach(function (o) { body.appendChild(o.row); });
	others.forEach(function (r) { body.appendChild(r); });
}
Array.prototype.forEach.call(document.querySelectorAll("table.sorts"), function (table) {
	Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th) {
		th.classList.add("sortable");
		th.title = "sort by this column";
		th.addEventListener("click", function () { sort(table, th); });
	});
});
})();
