//! Spellings of addresses: every way to write a refused address is refused.

use super::*;

fn policy(private: bool) -> Policy {
    Policy {
        private,
        own: vec![
            SocketAddr::from(([127, 0, 0, 1], 4747)),
            SocketAddr::new(Ipv6Addr::LOCALHOST.into(), 4747),
        ],
    }
}

/// Always refused, each with a part of the reason.
const NEVER: &[(&str, &str)] = &[
    ("http://169.254.169.254/latest/meta-data", "link-local"),
    ("http://169.254.169.254./", "link-local"),
    ("http://[::ffff:169.254.169.254]/", "link-local"),
    ("http://[::ffff:a9fe:a9fe]/", "link-local"),
    ("http://[0:0:0:0:0:ffff:a9fe:a9fe]/", "link-local"),
    ("http://[::169.254.169.254]/", "inside an IPv6"),
    ("http://[::a9fe:a9fe]/", "inside an IPv6"),
    ("http://[64:ff9b::169.254.169.254]/", "inside an IPv6"),
    ("http://[64:ff9b:1::a9fe:a9fe]/", "inside an IPv6"),
    ("http://[2002:a9fe:a9fe::1]/", "inside an IPv6"),
    ("http://[2001:0:a9fe:a9fe::1]/", "inside an IPv6"),
    ("http://[fe80::5efe:a9fe:a9fe]/", "inside an IPv6"),
    ("http://[::7f00:1]/", "inside an IPv6"),
    ("http://2852039166/", "usual spelling"),
    ("http://0xa9fea9fe/", "usual spelling"),
    ("http://0XA9FEA9FE/", "usual spelling"),
    ("http://0xA9.0xFE.0xA9.0xFE/", "usual spelling"),
    ("http://0251.0376.0251.0376/", "usual spelling"),
    ("http://025177524776/", "usual spelling"),
    ("http://169.254.43518/", "usual spelling"),
    ("http://169.16689662/", "usual spelling"),
    ("http://169.254.169.0376/", "usual spelling"),
    ("http://127.1/", "usual spelling"),
    ("http://127.0.1/", "usual spelling"),
    ("http://0x7f.1/", "usual spelling"),
    ("http://0177.0.0.1/", "usual spelling"),
    ("http://2130706433/", "usual spelling"),
    ("http://127.0.0.01/", "usual spelling"),
    ("http://1.2.3.256/", "usual spelling"),
    ("http://1.2.3.4.5/", "usual spelling"),
    ("http://localhost.0x7f000001/", "usual spelling"),
    ("http://169%2e254%2e169%2e254/", "percent"),
    ("http://%6c%6fcalhost/", "percent"),
    ("http://169。254。169。254/", "ASCII"),
    ("http://169．254．169．254/", "ASCII"),
    ("http://①②⑦.0.0.1/", "ASCII"),
    ("http://ｌocalhost/", "ASCII"),
    ("http://[fe80::1%25eth0]/", "zone"),
    ("http://[fe80::1%eth0]/", "zone"),
    ("http://[fe80::1]/", "link-local"),
    ("http://[fec0::1]/", "site-local"),
    ("http://[ff02::1]/", "multicast"),
    ("http://[fd00:ec2::254]/", "metadata"),
    ("http://[fd20:ce::254]/", "metadata"),
    ("http://192.88.99.1/", "relay"),
    ("http://metadata.goog/", "metadata"),
    ("http://instance-data.ec2.internal/", "metadata"),
    ("http://[2001:db8::1]/", "examples"),
    ("http://[100::1]/", "discarded"),
    ("http://[::]/", "not the address of a host"),
    ("http://0.0.0.0/", "not the address of a host"),
    ("http://0.1.2.3/", "not the address of a host"),
    ("http://224.0.0.1/", "multicast"),
    ("http://239.255.255.250/", "multicast"),
    ("http://255.255.255.255/", "broadcast"),
    ("http://240.0.0.1/", "reserved"),
    ("http://192.0.0.192/", "metadata"),
    ("http://100.100.100.200/", "metadata"),
    ("http://168.63.129.16/", "metadata"),
    ("http://198.51.100.7/", "examples"),
    ("http://metadata.google.internal/", "metadata"),
    ("http://METADATA.google.internal./", "metadata"),
    ("http://127.0.0.1:4747/", "itself"),
    ("http://127.9.9.9:4747/", "itself"),
    ("http://[::1]:4747/", "itself"),
    ("http://[::ffff:127.0.0.1]:4747/", "itself"),
    ("http://LOCALHOST:4747/", "itself"),
    ("http://a.localhost:4747/", "itself"),
    ("http://user@example.com/", "a user or a password"),
    ("http://example.com@127.0.0.1/", "a user or a password"),
    ("http://user:secret@example.com/", "a user or a password"),
    ("http://127.0.0.1\\@example.com/", "ASCII"),
    ("https://example.com/", "TLS is not supported"),
    ("HTTPS://example.com/", "TLS is not supported"),
    ("ftp://example.com/", "not \"ftp\""),
    ("file:///etc/passwd", "not \"file\""),
    ("gopher://127.0.0.1:6379/_x", "not \"gopher\""),
    ("//example.com/", "complete URL"),
    ("example.com", "complete URL"),
    ("http:/example.com", "complete URL"),
    ("http:///path", "not a valid host name"),
    ("http://:80/", "not a valid host name"),
    ("http://..../", "not a valid host name"),
    ("http://-a.example/", "not a valid host name"),
    ("http://exa mple.com/", "ASCII"),
    ("http://example.com/\r\nX: y", "ASCII"),
    ("http://example.com:0/", "port"),
    ("http://example.com:65536/", "port"),
    ("http://example.com:80:80/", "port"),
    ("http://example.com:+80/", "port"),
    ("http://::1/", "port"),
    ("http://[::1/", "bracket"),
    ("http://[::1]x/", "bracket"),
    ("http://[127.0.0.1]/", "IPv6"),
    ("http://example.com/#x", "fragment"),
    ("http://example.com?x", "slash"),
];

/// Accepted if only this machine can reach the server.
const PRIVATE: &[&str] = &[
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/hooks",
    "http://[::1]:8080/",
    "http://[::ffff:127.0.0.1]:8080/",
    "http://localhost/",
    "http://Localhost.:9/",
    "http://hooks.localhost/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://[fd12::1]/",
];

#[test]
fn no_spelling_of_a_refused_address_is_taken_and_the_reason_is_said() {
    assert!(NEVER.len() >= 60);
    let mut wrong = Vec::new();
    for private in [true, false] {
        for (url, word) in NEVER {
            let why = Target::parse(url, &policy(private)).expect_err(url);
            if !why.contains(word) {
                wrong.push(format!("{url}: expected {word:?}, got {why}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn private_addresses_are_for_servers_that_only_this_machine_reaches() {
    for url in PRIVATE {
        Target::parse(url, &policy(true)).expect(url);
        let why = Target::parse(url, &policy(false)).expect_err(url);
        assert!(why.contains("bound to loopback"), "{url}: {why}");
    }
}

#[test]
fn a_public_receiver_is_always_taken_and_its_url_is_normalised() {
    for (url, normal) in [
        ("http://example.com", "http://example.com/"),
        ("HTTP://Example.COM.:80/A?b=C", "http://example.com/A?b=C"),
        ("http://1.1.1.1:8080/x", "http://1.1.1.1:8080/x"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
        ("http://[::ffff:1.1.1.1]/", "http://1.1.1.1/"),
        ("http://my_hook.example:81/", "http://my_hook.example:81/"),
    ] {
        for private in [true, false] {
            let target = Target::parse(url, &policy(private)).expect(url);
            assert_eq!(target.to_string(), normal, "{url}");
        }
    }
}

#[test]
fn resolved_addresses_are_checked_by_the_same_rules() {
    let judge = |address: &str, private| policy(private).judge(address.parse().unwrap());
    assert!(judge("93.184.216.34:80", false).is_ok());
    assert!(judge("127.0.0.1:80", false).is_err());
    assert!(judge("127.0.0.1:80", true).is_ok());
    assert!(judge("[::ffff:169.254.169.254]:80", true).is_err());
    let anywhere = Policy { private: true, own: vec![SocketAddr::from(([0, 0, 0, 0], 4747))] };
    let me = "192.168.1.5:4747".parse().unwrap();
    assert!(anywhere.judge(me).unwrap_err().contains("itself"));
}
