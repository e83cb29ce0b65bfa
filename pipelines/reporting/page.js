"use strict";
(() => {
  const root = document.documentElement;
  const drawings = JSON.parse(document.getElementById("drawings").textContent);
  const places = [...document.querySelectorAll("[data-drawing]")];
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  // By default plotly.js offers to send a chart to its maker's cloud.
  const config = {
    responsive: true,
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
  };

  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  function themed(layout) {
    const [ground, ink, line] = ["--card", "--ink", "--line"].map(colour);
    const axis = { automargin: true, gridcolor: line, linecolor: line, zerolinecolor: line };
    return {
      margin: { l: 64, r: 16, t: 48, b: 52 },
      height: 340,
      ...layout,
      paper_bgcolor: ground,
      plot_bgcolor: ground,
      font: { color: ink, size: 13, family: getComputedStyle(document.body).fontFamily },
      hoverlabel: { bgcolor: ground, bordercolor: line, font: { color: ink }, namelength: -1, align: "left" },
      modebar: { bgcolor: ground, color: line, activecolor: ink },
      xaxis: { ...axis, ...layout.xaxis },
      yaxis: { ...axis, ...layout.yaxis },
    };
  }

  function draw() {
    for (const place of places) {
      const { data, layout } = drawings[place.dataset.drawing];
      Plotly.react(place, data, themed(structuredClone(layout)), config);
    }
  }

  document.getElementById("theme").addEventListener("click", () => {
    const dark = root.dataset.theme === "dark" || (root.dataset.theme === "auto" && system.matches);
    root.dataset.theme = dark ? "light" : "dark";
    draw();
  });
  system.addEventListener("change", draw);
  draw();
})();
