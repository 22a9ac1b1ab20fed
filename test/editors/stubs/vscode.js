// In place of the editor: the settings of package.json.
const { properties } = require("../../../editors/vscode/package.json").contributes.configuration;
exports.workspace = {
  getConfiguration: (section) => ({ get: (name) => properties[section + "." + name].default }),
};
