//! Generates the parts that all pages share: the HTML head, the links to the parts of the site, and the shared files.

use page::{SiteFrame, escape};

use crate::file::SiteFile;

const STYLE: &str = include_str!("assets/site.css");
const FIND: &str = include_str!("assets/find.js");
const SEARCH_SCRIPT: &str = include_str!("assets/search.js");

/// The address of the search page.
pub(crate) const SEARCH: &str = "search.html";

/// The main parts of the site: the address of each part, and the text of its link.
const PARTS: [(&str, &str); 7] = [
    ("index.html", "Questions"),
    ("verdicts.html", "Verdicts"),
    ("engines.html", "Engines"),
    ("components.html", "Components"),
    ("systems/index.html", "Published systems"),
    ("history.html", "History"),
    ("docs/index.html", "Docs"),
];

/// Returns the style sheets and scripts that the pages of the site share.
pub(crate) fn shared() -> Vec<SiteFile> {
    vec![
        SiteFile::new("page.css", page::page_style()),
        SiteFile::new("site.css", STYLE),
        SiteFile::new("page.js", page::page_script()),
        SiteFile::new("history.js", page::history_script()),
        SiteFile::new("find.js", FIND),
        SiteFile::new("search.js", SEARCH_SCRIPT),
    ]
}

/// Returns the path from a page to the root of the site, such as `../` for a page in a folder.
pub(crate) fn to_root(path: &str) -> String {
    "../".repeat(path.matches('/').count())
}

/// Returns the links to the parts of the site, and the search field. `part` is the address of the current part of the
/// site.
fn navigation(path: &str, part: &str) -> String {
    let root = to_root(path);
    let link = |(page, name): &(&str, &str)| {
        let current = if *page == part { " aria-current=\"page\"" } else { "" };
        format!("<a href=\"{root}{page}\"{current}>{name}</a>")
    };
    let links: Vec<String> = PARTS.iter().map(link).collect();
    // The search page contains its own search field.
    let search = match part {
        SEARCH => link(&(SEARCH, "Search")),
        _ => format!(
            "<form role=\"search\" action=\"{root}{SEARCH}\"><input type=\"search\" name=\"q\" aria-label=\"Search this \
             site\" placeholder=\"Search\"></form>"
        ),
    };
    format!(
        "<nav class=\"site\" aria-label=\"Site\"><a class=\"home\" href=\"{root}index.html\">lsmbench</a> {} {search}</nav>\n",
        links.join(" ")
    )
}

/// Returns the HTML elements that load the style sheets of the site.
fn head(path: &str) -> String {
    let root = to_root(path);
    format!(
        "<link rel=\"stylesheet\" href=\"{root}page.css\">\n<link rel=\"stylesheet\" href=\"{root}site.css\">\n"
    )
}

/// Creates a page of the site with links to all parts. `part` is the address of the part to which the page belongs.
pub(crate) fn framed(path: &str, part: &str, title: &str, body: &str) -> SiteFile {
    let content = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{} · lsmbench</title>\n{}</head>\n<body>\n{}<main>\n{body}</main>\n</body>\n</html>\n",
        escape(title),
        head(path),
        navigation(path, part),
    );
    SiteFile::new(path, content)
}

/// Returns the HTML that connects an interactive page with the site: the links to other pages, the style sheets, and
/// the path of the script. `links` is additional HTML after the links to the parts of the site, and `script` is the
/// path of a shared script.
pub(crate) fn interactive(path: &str, part: &str, links: &str, script: &str) -> SiteFrame {
    SiteFrame {
        navigation: navigation(path, part) + links,
        head: head(path),
        script: format!("{}{script}", to_root(path)),
    }
}

/// Adds links to the home page and the search to a page about published systems.
pub(crate) fn system(page: &SiteFile) -> SiteFile {
    let link = format!("<nav><a href=\"../index.html\">lsmbench</a> <a href=\"../{SEARCH}\">Search</a> ");
    SiteFile::new(format!("systems/{}", page.path), page.content.replacen("<nav>", &link, 1))
}
