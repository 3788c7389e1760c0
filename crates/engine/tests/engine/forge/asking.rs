//! What is asked of forges, and what comes of it when nothing fails.

use pleach_engine::forge::{ForgeError, PullRequest, PullRequestDraft, connect, open_pull_request};
use pleach_testkit::{ForgeStep, ForgeStyle};

use crate::forge::scene::{ALL, HEAD, PROJECT, Scene, assert_forge_error, draft, pauses};

#[test]
fn a_pull_request_is_opened_once_and_its_text_kept_up_to_date() {
    for style in ALL {
        let scene = Scene::pushed(style);
        let first = scene.open().unwrap();
        let page = match style {
            ForgeStyle::GitHub => "pull/1",
            ForgeStyle::GitLab => "-/merge_requests/1",
            ForgeStyle::Gitea => "pulls/1",
        };
        let url = format!("http://{}/{PROJECT}/{page}", scene.forge.host());
        assert_eq!(first, PullRequest { number: 1, url });
        let later = PullRequestDraft {
            title: "another title".into(),
            ..draft("later text")
        };
        let again = open_pull_request(&*scene.connect(), &later, &pauses()).unwrap();
        assert_eq!(again, first);
        let all = scene.forge.pull_requests();
        assert_eq!(all.len(), 1, "{style:?}");
        assert_eq!((all[0].head.as_str(), all[0].base.as_str()), (HEAD, "main"));
        assert_eq!(all[0].title, "Batch 1: three tasks", "a person's to change");
        assert_eq!(all[0].body, "later text");
        let counted = [ForgeStep::Find, ForgeStep::Create, ForgeStep::Update];
        let counted = counted.map(|step| scene.forge.count(step));
        assert_eq!(counted, [2, 1, 1], "{style:?}");
        scene.forge.assert_well_asked();
    }
}

#[test]
fn each_call_asks_as_the_forge_publishes_it() {
    let expected = |style: ForgeStyle| match style {
        ForgeStyle::GitHub => vec![
            "GET /api/v3/repos/acme/site/pulls?state=open&head=acme%3Apleach%2Fbatch-1&base=main",
            "POST /api/v3/repos/acme/site/pulls",
            "PATCH /api/v3/repos/acme/site/pulls/1",
        ],
        ForgeStyle::GitLab => vec![
            "GET /api/v4/projects/acme%2Fsite/merge_requests?state=opened&source_branch=pleach%2Fbatch-1\
             &target_branch=main",
            "GET /api/v4/projects/acme%2Fsite/repository/branches/main",
            "GET /api/v4/projects/acme%2Fsite/repository/commits?ref_name=main..pleach%2Fbatch-1&per_page=1",
            "POST /api/v4/projects/acme%2Fsite/merge_requests",
            "PUT /api/v4/projects/acme%2Fsite/merge_requests/1",
        ],
        ForgeStyle::Gitea => vec![
            "GET /api/v1/repos/acme/site/pulls?state=open&sort=recentupdate&limit=20&page=1",
            "GET /api/v1/repos/acme/site/branches/main",
            "GET /api/v1/repos/acme/site/commits?sha=pleach%2Fbatch-1&not=main&limit=1&stat=false\
             &verification=false&files=false",
            "POST /api/v1/repos/acme/site/pulls",
            "PATCH /api/v1/repos/acme/site/pulls/1",
        ],
    };
    for style in ALL {
        let scene = Scene::pushed(style);
        let forge = scene.connect();
        assert_eq!(forge.find(HEAD, "main").unwrap(), None);
        let opened = forge.create(&draft("text")).unwrap();
        forge.update(&opened, &draft("other text")).unwrap();
        let asked = scene.forge.requests();
        let asked = asked
            .iter()
            .map(|asked| format!("{} {}", asked.method, asked.target));
        assert_eq!(asked.collect::<Vec<_>>(), expected(style), "{style:?}");
        assert_eq!(scene.forge.pull_requests()[0].body, "other text");
        scene.forge.assert_well_asked();
    }
}

#[test]
fn requests_of_others_are_not_taken_for_ours() {
    for style in ALL {
        let scene = Scene::pushed(style);
        scene.on_server(&["branch", "release", "main"]);
        scene.forge.open(PROJECT, HEAD, "release", None);
        scene.forge.open(PROJECT, HEAD, "main", Some(99));
        for number in 0..45 {
            let other = format!("other-{number}");
            scene.forge.open(PROJECT, &other, "main", None);
        }
        let closed = scene.forge.open(PROJECT, HEAD, "main", None);
        scene.forge.close(closed);
        assert_eq!(
            scene.connect().find(HEAD, "main").unwrap(),
            None,
            "{style:?}"
        );
        let opened = scene.open().unwrap();
        assert!(opened.number > closed, "{style:?}");
        let found = scene.connect().find(HEAD, "main").unwrap();
        assert_eq!(found, Some(opened), "{style:?}, on the last page");
        scene.forge.assert_well_asked();
    }
}

#[test]
fn what_cannot_be_opened_says_why() {
    for style in ALL {
        let scene = Scene::pushed(style);
        let forge = scene.connect();
        let refused =
            |draft: &PullRequestDraft| open_pull_request(&*forge, draft, &pauses()).unwrap_err();
        let no_base = PullRequestDraft {
            base: "gone/away".into(),
            ..draft("text")
        };
        let told = assert_forge_error(&refused(&no_base), "base_missing");
        assert!(told.contains("gone/away"), "{told}");
        let no_head = PullRequestDraft {
            head: "pleach/batch-2".into(),
            ..draft("text")
        };
        assert_forge_error(&refused(&no_head), "head_missing");
        scene.on_server(&["branch", "same", "main"]);
        let same = PullRequestDraft {
            head: "same".into(),
            ..draft("text")
        };
        let told = assert_forge_error(&refused(&same), "nothing_to_land");
        assert!(told.contains("\"same\""), "{told}");
        assert_eq!(scene.forge.pull_requests(), [], "{style:?}");
        scene.forge.assert_well_asked();
    }
}

#[test]
fn a_project_that_is_not_there_is_told_from_a_wrong_login() {
    for style in ALL {
        let scene = Scene::pushed(style);
        let url = scene.forge.url("acme/other");
        scene.repo.git(&["remote", "set-url", "origin", &url]);
        let told = assert_forge_error(&scene.open().unwrap_err(), "not_found");
        assert!(told.contains("acme/other"), "{told}");
        assert_eq!(scene.forge.count(ForgeStep::Find), 1, "asked once");
    }
}

#[test]
fn long_texts_are_cut_to_what_forges_take() {
    let scene = Scene::pushed(ForgeStyle::GitHub);
    let long = PullRequestDraft {
        title: format!("two\nlines {}", "é".repeat(400)),
        ..draft(&"ü".repeat(80_000))
    };
    open_pull_request(&*scene.connect(), &long, &pauses()).unwrap();
    let opened = &scene.forge.pull_requests()[0];
    assert!(opened.title.starts_with("two lines éé"), "{}", opened.title);
    assert!(opened.title.chars().count() <= 251);
    assert!(opened.body.ends_with("\n\n(cut off here)\n"));
    assert!(opened.body.chars().count() < 65_536);
}

#[test]
fn without_a_login_nothing_is_asked() {
    let scene = Scene::pushed(ForgeStyle::GitLab);
    let error = connect(&scene.project(), None).err().unwrap();
    let told = assert_forge_error(&error, "no_login");
    assert!(told.contains("PLEACH_GIT_TOKEN"), "{told}");
    assert!(matches!(error, ForgeError::NoLogin { .. }));
    assert_eq!(scene.forge.requests().len(), 0);
}
