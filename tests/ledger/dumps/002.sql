PRAGMA application_id = 1397248076;
PRAGMA user_version = 2;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE event_rows (
  seq          INTEGER PRIMARY KEY,  -- 1, 2, 3, ... without holes
  kind         INTEGER NOT NULL,     -- 0: see event_texts, 1: job_described; of runs (and, one more, of waits): 2
                                     -- segment_opened, 4 segment_closed, 6 segment_retracted
  received     INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  job          INTEGER,              -- from here on NULL where events of this kind have no such member
  anchor       INTEGER,
  ordinal      INTEGER,
  organization INTEGER,              -- a word, like placement, reason and job_state
  processors   INTEGER,
  placement    INTEGER,              -- NULL, too, where the event has none
  reason       INTEGER,
  job_state    INTEGER,
  hash         BLOB NOT NULL,        -- SHA-256 over the previous row's hash and what the view events says of this one
  released     INTEGER,              -- NULL, too, where the event has none; so is waited_as
  waited_as    INTEGER
, tasks INTEGER);
INSERT INTO event_rows VALUES(1,0,1793476801,1793476800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'b690ca7d16c6145c1cae6b5bc30097d1cd38f84cfc50d5b794f248b4796d4562',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(2,0,1793476801,1793476800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'7141f90ff194a0f8ff1da7b48024ed998f2303c9d68e23ef9812517bda7c6d45',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(3,0,1793476801,1793476800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'642ecddbc04afcb42c80a71b973d9e27e7e8378a6659f03a3bf769e6853a20af',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(4,0,1793476801,1793476800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'6b611f60e4d4240f5d896375c41b0ca3f3ddbbc6c3300f3314f7654e4918cbe1',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(5,0,1793476801,1793476800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'f0d3685f1724190c9ea25cb90a6491eaf57bb7fd7a8879713500a08d596d8c68',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(6,0,1793476801,1793476800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'0afdcd42616b2c03eaa0294b045cda570d0735a89807d9968bab0b3c2086a8b8',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(7,0,1793476801,1793476800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'69f6937f15ee459db74a6e006b98184a024a084300aa81749994d37f8414ac85',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(8,0,1793476801,1793476800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'bd0bc807e3d4f55637256a971f5a0838f6a838c4716125fe279a053038be7bcb',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(9,0,1793476801,1793476800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'5e9fb9144f0bb9478d2e50d46d41cea9f73ce5810ffd88b78d25b83293828c1b',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(10,1,1793477401,1793477400,101,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'20604039b46d51dbffe8a90812815903419a8fe9b70b721de434928224fc5f11',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(11,3,1793477401,1793477400,101,1793477400,0,1,12000000,NULL,NULL,NULL,X'ae50928ac425a4f3a8fde8cff8dd99fe6aff357369b1af265dc58d6a6eb18bfd',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(12,5,1793477406,1793477405,101,1793477400,0,NULL,NULL,NULL,5,6,X'1f2d2725ffd421c61c05ace8f827f3c71481b4235d57ad0b0ecba45e67662ad1',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(13,2,1793477406,1793477405,101,1793477405,0,1,12000000,NULL,NULL,NULL,X'539359e2c5e81aeb5ac608e0179d35c0fd6378b493a60fbeba27a8ea72ec3441',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(14,1,1793480401,1793480400,102,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'5bcc7359d33e5afeca379b592629f5cf4a87327dde9dbde917e7060f4f9f5733',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(15,3,1793480401,1793480400,102,1793480400,0,9,4000000,NULL,NULL,NULL,X'6b71eb40f3425412f9e9c871e7a18f9fed2865d4ec788aa6ff8404786d177e51',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(16,5,1793480402,1793480401,102,1793480400,0,NULL,NULL,NULL,5,6,X'fe3ddbc39b7e9aface7e3a81d10766c375a55f9091549191c0111055d034438a',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(17,2,1793480402,1793480401,102,1793480401,0,9,4000000,NULL,NULL,NULL,X'8f40bb6021cf5390efd930d5cfcb2ac555dc433e51ce5452af1b0be46b58e290',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(18,1,1793484001,1793484000,103,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'b003087732f524e92888de17467bc7f9e63f3a819c7df68cd0b0e94b07168c5c',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(19,3,1793484001,1793484000,103,1793484000,0,10,4000000,NULL,NULL,NULL,X'92bbe75b84d335ad16cfb2a40ac3d75c46831dd35c34f6f08ef228355fa1b0dc',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(20,4,1793484002,1793484001,102,1793480401,0,NULL,NULL,NULL,11,12,X'82c9b006249a3c7839faf335b7ccef4ef3ef3e2394f87526024ec979edd4211b',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(21,5,1793484003,1793484002,103,1793484000,0,NULL,NULL,NULL,5,6,X'22dabae915c3a8a1b1c60dd8cc89fc5d60fe7d6a35b07afdaf1d7bdbdd705944',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(22,2,1793484003,1793484002,103,1793484002,0,10,4000000,NULL,NULL,NULL,X'b4ac63aa3a3b9cac2db4079dbc261cabdcdbb451b1f84f3037f48add72db383e',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(23,4,1793485201,1793485200,103,1793484002,0,NULL,NULL,NULL,14,15,X'b9997a762a0f65bd5de2449438af3778175c0a5783befa73274167527707161b',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(24,3,1793485322,1793485321,103,1793485321,0,10,4000000,NULL,NULL,NULL,X'42bc7ed79529dffee5db0299bdd90e2102ab4a1158c3b32cc896b23e4e8291b1',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(25,5,1793485501,1793485500,103,1793485321,0,NULL,NULL,NULL,5,6,X'0a7132c9628b0c15c09d0fcf5542af9e467b77f07eec7d66a061236df23c4b0a',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(26,2,1793485501,1793485500,103,1793485500,0,10,4000000,NULL,NULL,NULL,X'f8a8e91eb5f9edd1edf81c0be7803899f7fa5d5c798af4026dc7fded80e299ea',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(27,2,1793485801,1793485800,102,1793480401,1,9,4000000,NULL,NULL,NULL,X'2ffec650fbe20d232cdd0959393711b8c37255edac665e14c978e6c13d6e2283',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(28,4,1793489101,1793489100,103,1793485500,0,NULL,NULL,NULL,16,6,X'e8269bdfda2194aa9a9d07c2520f3159123766f4896b5bc3b6ce0bb48d016725',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(29,2,1793489101,1793489100,103,1793485500,1,10,2000000,NULL,NULL,NULL,X'91529d7c03344139799080a575deb384ea18e86f7af6fa6b6efeab6d61c78e9a',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(30,4,1793493001,1793493000,102,1793480401,1,NULL,NULL,NULL,17,18,X'f61730c692956944336666edf0fa9c0f38d5b844484686fcb9ecaa151c89ce01',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(31,1,1793494801,1793494800,104,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'f7a87c988c687a8917a5c6c30baaf929eb13d6aebf4e6c0b9cf44f06828ba510',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(32,3,1793494801,1793494800,104,1793494800,0,19,1000000,NULL,NULL,NULL,X'ca363fb04347ceaecd193446430be30920b3eb3045e20f14dab086e49d9afe45',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(33,4,1793496301,1793496300,103,1793485500,1,NULL,NULL,NULL,17,20,X'81258388f7aa820e9f171cc4be4611f493327bf3aa42e6321ed84c16a50304c3',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(34,5,1793496601,1793496600,104,1793494800,0,NULL,NULL,NULL,5,6,X'0f52e4012cda4e0e763011309f06387f90d0efbf3c63127f199cb10efb9c860a',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(35,2,1793496601,1793496600,104,1793496600,0,19,1000000,NULL,NULL,NULL,X'cc8869866cbc146e2ec75ca8188ff71dec31119c7c0ae7ef45c33a485b6f2ffa',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(36,6,1793496661,1793496660,104,1793496600,0,NULL,NULL,NULL,NULL,NULL,X'e71bb3072e6b52e0458e3ba9de664cbdc9d231536cef7c85c7559f0a4f9f6fca',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(37,2,1793496721,1793496720,104,1793496720,0,19,1000000,NULL,NULL,NULL,X'13f9d514d39885286cc5e5a45407355326e6121337c1bd42e32c29d2c396e97a',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(38,1,1793502001,1793502000,105,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'c8051d78dfcb6b92b9d04e05aa29a86868443e4d9a5a7694c329eff6ff8d3c8f',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(39,3,1793502001,1793502000,105,1793502000,0,9,8000000,NULL,NULL,NULL,X'ee5e686b6ad8acb11c49e21638e61701a1b6f06d95177de3f4941b17aeb66dcd',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(40,4,1793503921,1793503920,104,1793496720,0,NULL,NULL,NULL,17,18,X'603bffe57bb521ab8be16e8832b06858ac20a4eaaf821379dce4d28d9e09a75f',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(41,1,1793505601,1793505600,106,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'7da413b59a787a9a52000c04e8b0ca5141cdf39ae6ddb3f8345f04d046eb2127',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(42,3,1793505601,1793505600,106,1793505600,0,1,16000000,NULL,NULL,NULL,X'a727cd601268021e0a49c00a04b93c593d23edfb7795eb115129aaa396812b7f',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(43,4,1793506206,1793506205,101,1793477405,0,NULL,NULL,NULL,17,18,X'324fcb853ed8cd869d6e54371f809f8a35d83938e148e2cc092714c9446a9699',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(44,5,1793506207,1793506206,105,1793502000,0,NULL,NULL,NULL,5,6,X'2e284760ffd8901bfb4b4a2d2a5662d9139c169b9f30a455c85d603049b03ae9',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(45,2,1793506207,1793506206,105,1793506206,0,9,8000000,NULL,NULL,NULL,X'8902274b23a8f224af0c485c0e37db6bfc5b5926d989c012032eda03d1260a79',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(46,0,1793512801,1793512800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'932567b6d70d9b3056b0aa39cb5df52066957122ccf76e6ecd7f30e8db9794d6',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(47,0,1793512861,1793512860,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'146a97f131ae74a3df09520140ba7324e0082e0af7e8088c222f05de84da099d',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(48,0,1793512871,1793512870,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'4404b8c8676abe728de3c455e4049674616d2771b1340dc63006efb16d28586c',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(49,0,1793512881,1793512880,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'909053647681f35289310f591247a4df285c5deff6c02873c82613e268747598',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(50,2,1793512901,1793512900,106,1793512900,0,1,8000000,NULL,NULL,NULL,X'999b3df213d73c21206b557a979b84d7daff670f7391dff026e02fe4fa75f199',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(51,2,1793513001,1793513000,107,1793513000,0,9,12000000,NULL,NULL,NULL,X'cd5b0bf74cd3ac71a5524baee0c7d510d27d7bc689e65536d4f17f09f4402859',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(52,4,1793513601,1793513600,107,1793513000,0,NULL,NULL,NULL,17,18,X'5b8899546b706d078ac4b7cff5b8107fec464a3b9c78b5ab0ab07c3f7fbcecbd',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(53,3,1793514001,1793514000,40,1793514000,0,9,2000000,23,NULL,NULL,X'03681e1e391204adb800e20831c8b9968dc427c122eb6165924752100511b8be',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(54,0,1793514001,1793514000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'c9f27a1bcab21ce30ee71f8602192bebf568f3e14414fdfbe0579390a2d40a0a',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(55,5,1793514061,1793514060,40,1793514000,0,NULL,NULL,NULL,17,24,X'281de486f845fdd0e72345016004a774b97b1f1a4202b6dc8d14117d05e09218',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(56,7,1793514061,1793514060,40,1793514000,0,NULL,NULL,NULL,NULL,NULL,X'197958cdaa97be9d47c4d4eeeff09446177f96ffd6d4f71f2b06c2c10591e957',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(57,0,1793514061,1793514060,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'0e0e32fdcd40c1555614484cfcad330256f3e05f2a6510f57e08c040329fcd83',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(58,3,1793514101,1793514100,41,1793514100,0,9,2000000,23,NULL,NULL,X'd61bac0303f31a598780f9c7673e462ef217ddd10854a1a0bb2b1f34e7011d36',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(59,0,1793514101,1793514100,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'db42387b83c7b2ab51e88a740e222a9396c3016fe32e01a543d3434d330f78aa',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(60,5,1793514131,1793514130,41,1793514100,0,NULL,NULL,NULL,5,6,X'0d43241c9ec057b3d31b0a07a757f9bfe0fad62fb9c8765265914376e7c9e140',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(61,2,1793514131,1793514130,41,1793514130,0,9,2000000,23,NULL,NULL,X'14de5d2ee62c977b4e04638fde2fbbf235cec155b3dd716f12ba34721d8f2971',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(62,4,1793514191,1793514190,41,1793514130,0,NULL,NULL,NULL,17,18,X'ec0afbeba0ee0a1246779d1585ba227dc1162e3b4b9d308efcdba6f1ecb5a0b9',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(63,0,1793514251,1793514250,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'32f06ebd9e14018360316754d879f77a5b3347017f7411c70089e4626cd3993d',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(64,0,1793514301,1793514300,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'd27af073f09fd2a1cd38023e3b9f3aec6273960b40c6fe1d1846548fcca8e4eb',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(65,0,1793514401,1793514400,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'c915c1d67b2b09546e962f33c41e04e158539a490c5cb845cbd4acb6c3e6ebda',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(66,0,1793514463,1793514461,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'57035d75e8d293bc7b3abc4e26039e537765d77b56f61253fbf721e3d347a6d3',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(67,0,1793514464,1793514400,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'a34d4bfdc538435aeef3cc6de33e02daa1239c01d503e40eb8f847604e52c5f1',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(68,0,1793514500,1793514500,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'3973112f127f89b90473931b811870c16b6c17278cf23881f84324b3ac1b4f06',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(69,6,1793514500,1793496720,104,1793496720,0,NULL,NULL,NULL,NULL,NULL,X'9c971f2c1d0ebbc061e8cfb7f2c2dcfd6783c87fcbdcfce067a93e684658f72a',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(70,2,1793514500,1793496720,104,1793496720,1,10,1000000,NULL,NULL,NULL,X'2b91dfac00c88e63df3f621b66d94782ab439dbe472cc5acb400a184b86e1510',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(71,4,1793514500,1793503920,104,1793496720,1,NULL,NULL,NULL,17,18,X'267e0476af97f98f262d3ea4c483579d82cb987317d5142b49d5d6d0ed42e9f9',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(72,7,1793514500,1793494800,104,1793494800,0,NULL,NULL,NULL,NULL,NULL,X'647d7b0a1025196eada4f6104e70fe6b62df8d7428603d9dca911e1d6734d3c4',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(73,3,1793514500,1793494800,104,1793494800,1,10,1000000,NULL,NULL,NULL,X'f67a7e02ab4630d24035cb06bd6cbdbda0920c861e8a7fe7ef5dede963014c01',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(74,5,1793514500,1793496600,104,1793494800,1,NULL,NULL,NULL,5,6,X'8c5f558ab6d77d98118c19a6b47be91e550a042b925eced7c8e69405c97a579b',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(75,0,1793514500,1793496720,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'3089b6164404de5ee1a32e1366e697eeda8a6618f176586d8ea691c7b17ca953',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(76,0,1793514510,1793514510,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'c3d68b9ca53f47b6390d0b3cdecfc893a871daa589f59628e3e1837e96f974d5',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(77,0,1793514510,1793480400,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'fa9ba8cba72014346d34f161676374e27be8a32825ec55e8df3a9c21557f44d3',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(78,0,1793514510,1793484000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'1d9f3ec0be7044ca166eeb987c61895a099a753e66e4c7a16e076974c3d15e89',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(79,0,1793514520,1793514520,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'd50bcda26371e230ccf1973b1aa6498ff7633f337075d12a4387dbcabf6de568',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(80,6,1793514520,1793496720,104,1793496720,1,NULL,NULL,NULL,NULL,NULL,X'86c4218d4b8d92212361f38b82d880a4413459ed4c02d614ddf972cde0b854e8',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(81,2,1793514520,1793496720,104,1793496720,2,19,1000000,NULL,NULL,NULL,X'7f019f764fdda1d2c17216778b2ef6affbc6dafaa20aab5584069a04f1d4d130',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(82,4,1793514520,1793503920,104,1793496720,2,NULL,NULL,NULL,17,18,X'9bc7276925a73d13517d27ba8632420aec3ac2233b72de3d261702e28f5f7c76',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(83,7,1793514520,1793494800,104,1793494800,1,NULL,NULL,NULL,NULL,NULL,X'47e0431fa5718aa62331561123774c5395d74141dd16c510043565fa520c7076',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(84,3,1793514520,1793494800,104,1793494800,2,19,1000000,NULL,NULL,NULL,X'6f9e6041aec69f4470de2955e25154191330b70e2a06f9bf8fda6c3e783dc3ac',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(85,5,1793514520,1793496600,104,1793494800,2,NULL,NULL,NULL,5,6,X'8f0cd98e0cbae64d91ead7ad98bbac503f58127833064c9628b63f3a65c8a879',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(86,0,1793514520,1793496721,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'069c94169795236068c6cf51587be5cf2caef3d6fe24191e9b9d626c64c9553d',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(87,3,1793514581,1793514580,200,1793514580,0,9,2000000,NULL,NULL,NULL,X'b6d4a81a2fa2419fb43c7874053fcf31e843d891074292a268a843b05e222f3f',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(88,2,1793514611,1793514610,201,1793514610,0,9,1000000,NULL,NULL,NULL,X'f8ad71a3219aae96935bae88f73c4bae382ecc4f476fefcd6794e1527bbd9334',1793514580,200,NULL);
INSERT INTO event_rows VALUES(89,5,1793514611,1793514610,200,1793514580,0,NULL,NULL,NULL,5,6,X'6bb3685bff0a60dd4faeb0faf2ca7772ef8a5ea936550da07f7bd088d7a35601',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(90,4,1793514671,1793514670,201,1793514610,0,NULL,NULL,NULL,17,18,X'112c09c3ea8c40e5229c65b0c8d0babba4b609e4093b7feac693cb83b6a37237',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(91,0,1793514701,1793514700,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'45bf65b34769c7e57c59b493a357a886f82865786e783bf34de75eac4f9e2561',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(92,0,1793514701,1793514700,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'0986486b9e2172604b06dd096b9a77f9cd2c479412c60fe4260a806e472dac40',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(93,0,1793514801,1793514800,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'c2146cda67c8117aba0fbebd7b07b0519827a9629150de4591b8dfda15ad87e9',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(94,0,1793514831,1793514830,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'9b0e3ed04eb560cfcd3e25c940abdfa93e8b9156a8eadb44e88dde3230a86468',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(95,0,1793514901,1793514900,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'661df0196aa46884d12397b606353fc7d44c110dda07490409cc6fbaaa9fdf0b',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(96,0,1793514901,1793514880,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'1cc43bd59eb24f19b964fdf49166410771f84e6d7eb627805d171f1fd79ed190',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(97,0,1793514901,1793514890,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'51318a9bc701394586d3300202c8256cac25f1a886f1e517dbce497b04c856e0',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(98,0,1793514901,1793514900,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'4d51dde82e76132fcfebb8ba22a7304ad83d54acfef4529268ad65d4c6a772af',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(99,0,1793514901,1793514900,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'76a4e4ef7f7c1714050b32a720f727343fa8c8668bf01239428b95abba306661',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(100,0,1793514901,1793514000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'65fbc2a1ca125d287ebc75297326a050bf9e2f3b19d49fcc7250b1d82ed6a2b5',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(101,0,1793514901,1793514900,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'1212ac97852476a9b5e892e72b9560e1beb43a9790c8be194dc55dbdd5f46e79',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(102,0,1793514901,1793514000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'1ead8b0aaf32bd0b93231bcf19203a4d1546d3f1bc61e7b94f22900da002d1ce',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(103,0,1793514991,1793514940,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'56bfcad1063c1a0c960377c4d8c5f4c8a3d0143e836dc3c05f5c42cf5bf3554d',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(104,0,1793514991,1793514950,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'b06a43a325351c7c50fb64c03e5ad4bceeac327bf40924dfedb731f690742579',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(105,0,1793514991,1793514955,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,X'87236405a845dae53918b924c5cc4e0c5678a23c86c044e9cf29f890b3da88ff',NULL,NULL,NULL);
INSERT INTO event_rows VALUES(106,3,1793514991,1793514960,301,1793514960,0,9,6000000,25,NULL,NULL,X'06705862a74e86dea359c062b97e01ac4c4c9ce874e1807337e8b3545424a8b6',NULL,NULL,3);
INSERT INTO event_rows VALUES(107,5,1793514991,1793514990,301,1793514960,0,NULL,NULL,NULL,26,27,X'4f83748de291d7859e5c90badb639cc2e4bcc75dc327ff4b1fa2988c59a3e992',NULL,NULL,NULL);
CREATE TABLE event_nodes (
  seq        INTEGER NOT NULL,
  position   INTEGER NOT NULL,
  node       INTEGER NOT NULL,       -- a word
  processors INTEGER NOT NULL,
  cpus       INTEGER,                -- from here on NULL where the event has none
  memory     INTEGER,
  gres       INTEGER,                -- a word: the whole list
  PRIMARY KEY (seq, position)
) WITHOUT ROWID;
INSERT INTO event_nodes VALUES(13,0,7,8000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(13,1,8,4000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(17,0,8,4000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(22,0,13,4000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(26,0,13,4000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(27,0,8,4000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(29,0,13,2000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(35,0,13,1000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(37,0,13,1000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(45,0,7,8000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(50,0,13,8000000,2,16000,21);
INSERT INTO event_nodes VALUES(51,0,13,12000000,12,24000,22);
INSERT INTO event_nodes VALUES(61,0,7,2000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(70,0,13,1000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(81,0,13,1000000,NULL,NULL,NULL);
INSERT INTO event_nodes VALUES(88,0,7,1000000,NULL,NULL,NULL);
CREATE TABLE event_jobs (
  job          INTEGER NOT NULL,
  submit       INTEGER NOT NULL,
  seq          INTEGER NOT NULL,
  organization INTEGER NOT NULL,
  array_job    INTEGER,              -- NULL: 0
  array_task   INTEGER,
  het_job      INTEGER,              -- NULL: 0
  user_id      INTEGER NOT NULL,
  group_id     INTEGER NOT NULL,
  account      INTEGER NOT NULL,
  partition    INTEGER NOT NULL,
  qos          INTEGER NOT NULL,
  wckey        INTEGER NOT NULL,
  name         BLOB NOT NULL,        -- the text itself, or the number of a word if JSON writes it in another way
  PRIMARY KEY (job, submit)
) WITHOUT ROWID;
INSERT INTO event_jobs VALUES(101,1793477400,10,1,NULL,NULL,NULL,1002,100,1,2,3,4,'lattice');
INSERT INTO event_jobs VALUES(102,1793480400,14,9,NULL,NULL,NULL,1000,100,9,2,3,4,'fold');
INSERT INTO event_jobs VALUES(103,1793484000,18,10,103,1,NULL,1001,100,10,2,3,4,'index');
INSERT INTO event_jobs VALUES(104,1793494800,31,19,NULL,NULL,NULL,1002,100,4,2,3,4,'visitor');
INSERT INTO event_jobs VALUES(105,1793502000,38,9,NULL,NULL,NULL,1000,100,9,2,3,4,'fold');
INSERT INTO event_jobs VALUES(106,1793505600,41,1,NULL,NULL,NULL,1001,100,1,2,3,4,'lattice');
CREATE TABLE event_texts (
  seq     INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL,
  key     TEXT NOT NULL UNIQUE,
  payload TEXT NOT NULL
);
INSERT INTO event_texts VALUES(1,'configuration_loaded','configuration_loaded/1793476800','{"at":1793476800,"text":"organizations:\n  - name: physics\n    accounts: [physics]\n    nodes: [n1, {nodes: gpu1, share: 1/3}]\n  - name: biology\n    accounts: [biology]\n    nodes: [n2, {nodes: gpu1, share: 2/3}]\n  - name: library\n    accounts: [library]\n    nodes: [{nodes: n2, from: 2026-11-01T02:00:00}]\n"}');
INSERT INTO event_texts VALUES(2,'organizations_declared','organizations_declared/1793476800','{"at":1793476800,"names":["physics","biology","library"]}');
INSERT INTO event_texts VALUES(3,'period_declared','period_declared/1793476800','{"at":1793476800,"period":"none"}');
INSERT INTO event_texts VALUES(4,'ownership_stated','ownership_stated/n1/1793476800','{"effective":1793476800,"node":"n1","spans":[{"from":-2305843009213693952,"owners":[{"organization":"physics","parts_per_million":1000000}]}]}');
INSERT INTO event_texts VALUES(5,'ownership_stated','ownership_stated/n2/1793476800','{"effective":1793476800,"node":"n2","spans":[{"from":-2305843009213693952,"owners":[{"organization":"biology","parts_per_million":1000000}]},{"from":1793498400,"owners":[{"organization":"library","parts_per_million":1000000}]}]}');
INSERT INTO event_texts VALUES(6,'ownership_stated','ownership_stated/gpu1/1793476800','{"effective":1793476800,"node":"gpu1","spans":[{"from":-2305843009213693952,"owners":[{"organization":"physics","parts_per_million":333333},{"organization":"biology","parts_per_million":666667}]}]}');
INSERT INTO event_texts VALUES(7,'capacity_changed','capacity_changed/n1/1793476800/0','{"at":1793476800,"node":"n1","ordinal":0,"processors":8000000}');
INSERT INTO event_texts VALUES(8,'capacity_changed','capacity_changed/n2/1793476800/0','{"at":1793476800,"node":"n2","ordinal":0,"processors":8000000}');
INSERT INTO event_texts VALUES(9,'capacity_changed','capacity_changed/gpu1/1793476800/0','{"at":1793476800,"node":"gpu1","ordinal":0,"processors":8000000}');
INSERT INTO event_texts VALUES(46,'capacity_changed','capacity_changed/n2/1793512800/0','{"at":1793512800,"node":"n2","ordinal":0,"processors":0}');
INSERT INTO event_texts VALUES(47,'capacity_changed','capacity_changed/gpu1/1793512860/0','{"at":1793512860,"cpus":16,"gres":[{"count":4,"name":"gres/gpu"}],"memory":64000,"node":"gpu1","ordinal":0,"processors":16000000,"whole":16000000}');
INSERT INTO event_texts VALUES(48,'ranking_declared','ranking_declared/1793512870','{"at":1793512870,"contribution":"direct_contr","exceptions":[{"organization":"physics","parts_per_million":800000}],"guarantee":500000,"horizon":604800}');
INSERT INTO event_texts VALUES(49,'charge_declared','charge_declared/1793512880','{"at":1793512880,"charge":"dominant","node_weights":[{"nodes":"gpu[1-4]","weight":1}],"weights":[]}');
INSERT INTO event_texts VALUES(54,'placement_resolved','placement_resolved/partition=debug nodes=n[1-2]/1793514000/0','{"at":1793514000,"nodes":"n[1-2]","ordinal":0,"placement":"partition=debug nodes=n[1-2]"}');
INSERT INTO event_texts VALUES(57,'placement_resolved','placement_resolved/partition=debug nodes=n[1-2]/1793514060/0','{"at":1793514060,"nodes":"","ordinal":0,"placement":"partition=debug nodes=n[1-2]"}');
INSERT INTO event_texts VALUES(59,'placement_resolved','placement_resolved/partition=debug nodes=n[1-2]/1793514100/0','{"at":1793514100,"nodes":"n[1-2]","ordinal":0,"placement":"partition=debug nodes=n[1-2]"}');
INSERT INTO event_texts VALUES(63,'observations_mistimed','observations_mistimed/1793514250/91','{"ahead":3456000,"at":1793514250,"message":91,"messages":4,"observed_from":1796970200,"observed_to":1796970240,"since":1793514200}');
INSERT INTO event_texts VALUES(64,'controller_began','controller_began/63','{"after":63,"at":1793514300,"hash":"32f06ebd9e14018360316754d879f77a5b3347017f7411c70089e4626cd3993d","host":"ctl2","peer":"answered"}');
INSERT INTO event_texts VALUES(65,'job_changed','job_changed/105/1793502000/1793514400','{"account":"physics","array_job":0,"array_task":null,"at":1793514400,"group_id":100,"het_job":0,"job":105,"name":"fold","organization":"physics","partition":"main","qos":"normal","submit":1793502000,"user_id":1000,"wckey":""}');
INSERT INTO event_texts VALUES(66,'observation_gap','observation_gap/1793514400/1793514461','{"begin":1793514400,"cause":"unobserved","end":1793514461}');
INSERT INTO event_texts VALUES(67,'history_imported','history_imported/1793514400/1338807a94c23f9af4dec882e1d1882b0f94e71320ad4bc9af88947a2a26409d','{"at":1793514400,"author":"uid 0","file":"gap.txt","known":12,"reason":"power cut","rows":15,"runs":2,"sha256":"1338807a94c23f9af4dec882e1d1882b0f94e71320ad4bc9af88947a2a26409d","since":1793512000,"until":1793513000}');
INSERT INTO event_texts VALUES(68,'adjustment_made','adjustment_made/1','{"at":1793514500,"author":"uid 0 (root)","facts":7,"into":"library","kind":"attribute","number":1,"organization":"","reason":"a typo in the account","reverses":0,"runs":1,"what":"runs of job 104"}');
INSERT INTO event_texts VALUES(75,'job_changed','job_changed/104/1793494800/1793496720','{"account":"","array_job":0,"array_task":null,"at":1793496720,"group_id":100,"het_job":0,"job":104,"name":"visitor","organization":"library","partition":"main","qos":"normal","submit":1793494800,"user_id":1002,"wckey":""}');
INSERT INTO event_texts VALUES(76,'adjustment_made','adjustment_made/2','{"at":1793514510,"author":"uid 0 (root)","facts":2,"into":"","kind":"own","number":2,"organization":"","reason":"agreed on 1 November","reverses":0,"runs":0,"what":"nodes n1 of physics 50%, biology 50%, since 2026-10-31T21:00:00Z, until 2026-10-31T22:00:00Z"}');
INSERT INTO event_texts VALUES(77,'ownership_stated','ownership_stated/n1/1793480400/2','{"effective":1793480400,"node":"n1","revision":2,"spans":[{"from":1793480400,"owners":[{"organization":"physics","parts_per_million":500000},{"organization":"biology","parts_per_million":500000}]}]}');
INSERT INTO event_texts VALUES(78,'ownership_stated','ownership_stated/n1/1793484000/2','{"effective":1793484000,"node":"n1","revision":2,"spans":[{"from":-2305843009213693952,"owners":[{"organization":"physics","parts_per_million":1000000}]}]}');
INSERT INTO event_texts VALUES(79,'adjustment_made','adjustment_made/3','{"at":1793514520,"author":"uid 0 (root)","facts":7,"into":"","kind":"reverse","number":3,"organization":"","reason":"it was none","reverses":1,"runs":1,"what":"adjustment 1 (runs of job 104) does not hold"}');
INSERT INTO event_texts VALUES(86,'job_changed','job_changed/104/1793494800/1793496721','{"account":"","array_job":0,"array_task":null,"at":1793496721,"group_id":100,"het_job":0,"job":104,"name":"visitor","organization":"guests","partition":"main","qos":"normal","submit":1793494800,"user_id":1002,"wckey":""}');
INSERT INTO event_texts VALUES(91,'residual_measured','residual_measured/1793514700','{"at":1793514700,"runs":23,"seconds":5400}');
INSERT INTO event_texts VALUES(92,'ranking_declared','ranking_declared/1793514700','{"at":1793514700,"contribution":"direct_contr","exceptions":[{"organization":"physics","parts_per_million":800000}],"guarantee":500000,"horizon":2592000,"running_weight":100000}');
INSERT INTO event_texts VALUES(93,'cluster_named','cluster_named/1793514800','{"at":1793514800,"author":"the first feeder","cluster":"apple","reason":""}');
INSERT INTO event_texts VALUES(94,'state_lost','state_lost/1793514830','{"at":1793514830,"closed":1,"closed_seconds":3200,"retracted":1,"retracted_seconds":16,"seen":1793514810}');
INSERT INTO event_texts VALUES(95,'hindsight_bounded','hindsight_bounded/1793514900','{"at":1793514900,"bound":1073741824,"coalitions":"pairs","needed":1288490189}');
INSERT INTO event_texts VALUES(96,'consortium_declared','consortium_declared/1793514880','{"at":1793514880,"clusters":[{"cluster":"south","key":"SHA256:5555555555555555555555555555555555555555555555555555555555555555","names":[{"here":"physics","there":"physik"}],"stale_after":0,"weight":1500000}],"consortium":"uni","weight":1000000}');
INSERT INTO event_texts VALUES(97,'standing_received','standing_received/1793514890/south','{"at":1793514890,"cluster":"south","consortium":"uni","contribution":"direct_contr","event":4711,"hash":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","ledger":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","organizations":[{"balance":"-1234567890123.456789","given_less_got":"-450000","organization":"biology","owned":16000000,"rate_less_used":-2000000,"used":18000000,"waiting":3000000},{"balance":"1234567890123.456789","given_less_got":"450000","organization":"physik","owned":16000000,"rate_less_used":2000000,"used":0,"waiting":0}],"period":"none","period_begin":0,"signature":"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","time":1793514885,"weights":[{"cluster":"north","weight":1000000},{"cluster":"south","weight":1500000}]}');
INSERT INTO event_texts VALUES(98,'consortium_declared','consortium_declared/1793514900','{"at":1793514900,"clusters":[],"consortium":"","weight":1000000}');
INSERT INTO event_texts VALUES(99,'adjustment_made','adjustment_made/4','{"at":1793514900,"author":"uid 0 (root)","facts":1,"into":"biology","kind":"settle","number":4,"organization":"physics","reason":"invoice 12 was paid","reverses":0,"runs":0,"what":"500 core-hours given by physics to biology as of 2026-11-01T06:20:00Z"}');
INSERT INTO event_texts VALUES(100,'work_settled','work_settled/4','{"adjustment":4,"at":1793514000,"from":"physics","to":"biology","work":"1800000"}');
INSERT INTO event_texts VALUES(101,'adjustment_made','adjustment_made/5','{"at":1793514900,"author":"uid 0 (root)","facts":1,"into":"","kind":"reverse","number":5,"organization":"","reason":"it was the invoice of another year","reverses":4,"runs":0,"what":"adjustment 4 (500 core-hours given by physics to biology as of 2026-11-01T06:20:00Z) does not hold"}');
INSERT INTO event_texts VALUES(102,'work_settled','work_settled/5','{"adjustment":5,"at":1793514000,"from":"physics","to":"biology","work":"-1800000"}');
INSERT INTO event_texts VALUES(103,'hindsight_defined','hindsight_defined/1793514940','{"at":1793514940,"jobs":"whole","kinds":["gpu1"]}');
INSERT INTO event_texts VALUES(104,'ledger_replaced','ledger_replaced/1793514950/south','{"at":1793514950,"author":"uid 0 (root)","cluster":"south","event":12,"former_event":4711,"former_ledger":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","hash":"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd","ledger":"cccccccccccccccccccccccccccccccc","reason":"its disk was lost"}');
INSERT INTO event_texts VALUES(105,'user_named','user_named/1793514955/1000','{"at":1793514955,"name":"ada","user_id":1000}');
CREATE TABLE words (
  word INTEGER PRIMARY KEY,
  json TEXT NOT NULL UNIQUE,         -- as payloads have it
  text TEXT NOT NULL                 -- what it means
);
INSERT INTO words VALUES(1,'"physics"','physics');
INSERT INTO words VALUES(2,'"main"','main');
INSERT INTO words VALUES(3,'"normal"','normal');
INSERT INTO words VALUES(4,'""','');
INSERT INTO words VALUES(5,'"started"','started');
INSERT INTO words VALUES(6,'"RUNNING"','RUNNING');
INSERT INTO words VALUES(7,'"n1"','n1');
INSERT INTO words VALUES(8,'"n2"','n2');
INSERT INTO words VALUES(9,'"biology"','biology');
INSERT INTO words VALUES(10,'"library"','library');
INSERT INTO words VALUES(11,'"suspended"','suspended');
INSERT INTO words VALUES(12,'"SUSPENDED"','SUSPENDED');
INSERT INTO words VALUES(13,'"gpu1"','gpu1');
INSERT INTO words VALUES(14,'"requeued"','requeued');
INSERT INTO words VALUES(15,'"REQUEUED"','REQUEUED');
INSERT INTO words VALUES(16,'"resized"','resized');
INSERT INTO words VALUES(17,'"ended"','ended');
INSERT INTO words VALUES(18,'"COMPLETED"','COMPLETED');
INSERT INTO words VALUES(19,'"guests"','guests');
INSERT INTO words VALUES(20,'"TIMEOUT"','TIMEOUT');
INSERT INTO words VALUES(21,'[{"count":2,"name":"gres/gpu"}]','gres/gpu=2');
INSERT INTO words VALUES(22,'[{"count":1,"name":"gres/gpu"}]','gres/gpu=1');
INSERT INTO words VALUES(23,'"partition=debug nodes=n[1-2]"','partition=debug nodes=n[1-2]');
INSERT INTO words VALUES(24,'"CANCELLED"','CANCELLED');
INSERT INTO words VALUES(25,'"partition=gpu"','partition=gpu');
INSERT INTO words VALUES(26,'"changed"','changed');
INSERT INTO words VALUES(27,'"PENDING"','PENDING');
CREATE TABLE identity (
  ledger TEXT NOT NULL            -- 32 hexadecimal digits
);
INSERT INTO identity VALUES('3f0c5d4a7e1b48d29a6f0c1e2d3b4a59');
CREATE TABLE heads (
  sequence INTEGER PRIMARY KEY,   -- of the event that the head names
  at       INTEGER NOT NULL,      -- when it was signed
  text     TEXT    NOT NULL
);
INSERT INTO heads VALUES(46,1795259473,replace('shapley ledger head 1\nledger: 3f0c5d4a7e1b48d29a6f0c1e2d3b4a59\nsequence: 46\nhash: 932567b6d70d9b3056b0aa39cb5df52066957122ccf76e6ecd7f30e8db9794d6\ntime: 2026-11-21T11:11:13Z\nkey: SHA256:690215d5d51959aa6f7e9ef41c396e0d23427501048ef91ba69a37005bcf143c\nsignature: cfc74efbec54f869b19fa344d0d2a55c80208b2cbbb9c348c19460b3cff98eedf39d57b721429c18adab1987444572fe86466b11066fa32beb228ba600290f0d\n','\n',char(10)));
CREATE TABLE genesis (
  sequence     INTEGER NOT NULL,  -- of the archive's last event: the ledger's own begin with the next
  hash         BLOB    NOT NULL,  -- of that event
  events       INTEGER NOT NULL,  -- how many the archive has of its own
  archive      TEXT    NOT NULL,  -- the archive's file, without its directory
  begin        INTEGER NOT NULL,  -- of the period, or of the first of the periods, in the archive
  until        INTEGER NOT NULL,  -- its end: the ledger's own periods begin here
  horizon      INTEGER NOT NULL,  -- the books here know nothing that could be corrected from before this
  books        TEXT    NOT NULL,  -- after the archive's last event, as checkpoints have them
  books_hash   BLOB    NOT NULL,  -- SHA-256 over hash, until and books, as of checkpoints
  copies       INTEGER NOT NULL,  -- how many of the archive's events are here, too
  copies_hash  BLOB    NOT NULL   -- a hash chain of their own over them
);
CREATE TABLE checkpoint_parts (
  id   INTEGER PRIMARY KEY,
  text TEXT    NOT NULL
);
CREATE TABLE checkpoints (
  sequence INTEGER PRIMARY KEY,   -- the books hold every event up to this one
  at       INTEGER NOT NULL,
  parts    TEXT    NOT NULL,      -- numbers of checkpoint_parts, a space between them: one after the other they are the text
  sha      BLOB    NOT NULL       -- SHA-256 over the hash of event `sequence`, `at` and the text
);
CREATE TABLE segment_events (
  job       INTEGER NOT NULL,
  anchor    INTEGER NOT NULL,
  kind      INTEGER NOT NULL,        -- 0: run, 1: wait
  ordinal   INTEGER NOT NULL,
  opened    INTEGER,
  closed    INTEGER,
  retracted INTEGER,
  PRIMARY KEY (job, anchor, kind, ordinal)
) WITHOUT ROWID;
INSERT INTO segment_events VALUES(40,1793514000,1,0,53,55,56);
INSERT INTO segment_events VALUES(41,1793514100,1,0,58,60,NULL);
INSERT INTO segment_events VALUES(41,1793514130,0,0,61,62,NULL);
INSERT INTO segment_events VALUES(101,1793477400,1,0,11,12,NULL);
INSERT INTO segment_events VALUES(101,1793477405,0,0,13,43,NULL);
INSERT INTO segment_events VALUES(102,1793480400,1,0,15,16,NULL);
INSERT INTO segment_events VALUES(102,1793480401,0,0,17,20,NULL);
INSERT INTO segment_events VALUES(102,1793480401,0,1,27,30,NULL);
INSERT INTO segment_events VALUES(103,1793484000,1,0,19,21,NULL);
INSERT INTO segment_events VALUES(103,1793484002,0,0,22,23,NULL);
INSERT INTO segment_events VALUES(103,1793485321,1,0,24,25,NULL);
INSERT INTO segment_events VALUES(103,1793485500,0,0,26,28,NULL);
INSERT INTO segment_events VALUES(103,1793485500,0,1,29,33,NULL);
INSERT INTO segment_events VALUES(104,1793494800,1,0,32,34,72);
INSERT INTO segment_events VALUES(104,1793494800,1,1,73,74,83);
INSERT INTO segment_events VALUES(104,1793494800,1,2,84,85,NULL);
INSERT INTO segment_events VALUES(104,1793496600,0,0,35,NULL,36);
INSERT INTO segment_events VALUES(104,1793496720,0,0,37,40,69);
INSERT INTO segment_events VALUES(104,1793496720,0,1,70,71,80);
INSERT INTO segment_events VALUES(104,1793496720,0,2,81,82,NULL);
INSERT INTO segment_events VALUES(105,1793502000,1,0,39,44,NULL);
INSERT INTO segment_events VALUES(105,1793506206,0,0,45,NULL,NULL);
INSERT INTO segment_events VALUES(106,1793505600,1,0,42,NULL,NULL);
INSERT INTO segment_events VALUES(106,1793512900,0,0,50,NULL,NULL);
INSERT INTO segment_events VALUES(107,1793513000,0,0,51,52,NULL);
INSERT INTO segment_events VALUES(200,1793514580,1,0,87,89,NULL);
INSERT INTO segment_events VALUES(201,1793514610,0,0,88,90,NULL);
INSERT INTO segment_events VALUES(301,1793514960,1,0,106,107,NULL);
CREATE TABLE job_changes (
  job          INTEGER NOT NULL,
  submit       INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  organization TEXT NOT NULL,
  array_task   INTEGER,
  account      TEXT NOT NULL,
  partition    TEXT NOT NULL,
  qos          TEXT NOT NULL,
  name         TEXT NOT NULL,
  wckey        TEXT NOT NULL,
  PRIMARY KEY (job, submit, at)
) WITHOUT ROWID;
INSERT INTO job_changes VALUES(104,1793494800,1793496720,'library',NULL,'','main','normal','visitor','');
INSERT INTO job_changes VALUES(104,1793494800,1793496721,'guests',NULL,'','main','normal','visitor','');
INSERT INTO job_changes VALUES(105,1793502000,1793514400,'physics',NULL,'physics','main','normal','fold','');
CREATE TABLE organizations (
  at       INTEGER NOT NULL,      -- this list is in force from here to the next one
  position INTEGER NOT NULL,      -- from 0; ties of ranks go to the lowest
  name     TEXT    NOT NULL,
  PRIMARY KEY (at, position)
) WITHOUT ROWID;
INSERT INTO organizations VALUES(1793476800,0,'physics');
INSERT INTO organizations VALUES(1793476800,1,'biology');
INSERT INTO organizations VALUES(1793476800,2,'library');
CREATE TABLE periods (
  at     INTEGER PRIMARY KEY,
  period TEXT NOT NULL
);
INSERT INTO periods VALUES(1793476800,'none');
CREATE TABLE ownership (
  node              TEXT    NOT NULL,
  begin             INTEGER NOT NULL,  -- 0: always
  organization      TEXT    NOT NULL,
  end               INTEGER,           -- NULL: until further notice
  parts_per_million INTEGER NOT NULL,
  PRIMARY KEY (node, begin, organization)
) WITHOUT ROWID;
INSERT INTO ownership VALUES('gpu1',0,'commons',1793476800,1000000);
INSERT INTO ownership VALUES('gpu1',1793476800,'biology',NULL,666667);
INSERT INTO ownership VALUES('gpu1',1793476800,'physics',NULL,333333);
INSERT INTO ownership VALUES('n1',0,'commons',1793476800,1000000);
INSERT INTO ownership VALUES('n1',1793476800,'physics',1793480400,1000000);
INSERT INTO ownership VALUES('n1',1793480400,'biology',1793484000,500000);
INSERT INTO ownership VALUES('n1',1793480400,'physics',1793484000,500000);
INSERT INTO ownership VALUES('n1',1793484000,'physics',NULL,1000000);
INSERT INTO ownership VALUES('n2',0,'commons',1793476800,1000000);
INSERT INTO ownership VALUES('n2',1793476800,'biology',1793498400,1000000);
INSERT INTO ownership VALUES('n2',1793498400,'library',NULL,1000000);
CREATE TABLE capacity (
  node       TEXT    NOT NULL,
  at         INTEGER NOT NULL,
  ordinal    INTEGER NOT NULL,
  processors INTEGER NOT NULL,
  whole      INTEGER NOT NULL DEFAULT 0,
  cpus       INTEGER NOT NULL DEFAULT 0,
  memory     INTEGER NOT NULL DEFAULT 0,   -- MiB
  gres       TEXT    NOT NULL DEFAULT '',
  PRIMARY KEY (node, at, ordinal)
) WITHOUT ROWID;
INSERT INTO capacity VALUES('gpu1',1793476800,0,8000000,0,0,0,'');
INSERT INTO capacity VALUES('gpu1',1793512860,0,16000000,16000000,16,64000,'gres/gpu=4');
INSERT INTO capacity VALUES('n1',1793476800,0,8000000,0,0,0,'');
INSERT INTO capacity VALUES('n2',1793476800,0,8000000,0,0,0,'');
INSERT INTO capacity VALUES('n2',1793512800,0,0,0,0,0,'');
CREATE TABLE books_by_day (
  day          INTEGER NOT NULL,
  organization TEXT    NOT NULL,
  at           INTEGER NOT NULL,
  sequence     INTEGER NOT NULL,
  period_begin INTEGER NOT NULL,
  psi          TEXT    NOT NULL,  -- micro-processor seconds squared
  got          TEXT    NOT NULL,  -- micro-processor seconds
  owned        INTEGER NOT NULL,
  used         INTEGER NOT NULL,
  waiting      INTEGER NOT NULL,
  lent         INTEGER NOT NULL,
  borrowed     INTEGER NOT NULL,
  PRIMARY KEY (day, organization)
) WITHOUT ROWID;
INSERT INTO books_by_day VALUES(1793491200,'biology',1793512801,46,1793476800,'1288612880000000','95960000000',5333336,8000000,0,0,8000000);
INSERT INTO books_by_day VALUES(1793491200,'commons',1793512801,46,1793476800,'0','0',0,0,0,0,0);
INSERT INTO books_by_day VALUES(1793491200,'guests',1793512801,46,1793476800,'89866800000000','7200000000',0,0,0,0,0);
INSERT INTO books_by_day VALUES(1793491200,'library',1793512801,46,1793476800,'791819996000000','33592000000',0,0,0,0,0);
INSERT INTO books_by_day VALUES(1793491200,'physics',1793512801,46,1793476800,'7256390400000000','345600000000',10666664,0,16000000,8000000,0);
CREATE TABLE contributions_by_day (
  day          INTEGER NOT NULL,
  organization TEXT    NOT NULL,
  estimator    TEXT    NOT NULL,
  phi          TEXT    NOT NULL,  -- micro-processor seconds squared
  balance      TEXT    NOT NULL,  -- phi - psi
  given        TEXT    NOT NULL,  -- micro-processor seconds
  PRIMARY KEY (day, organization, estimator)
) WITHOUT ROWID;
INSERT INTO contributions_by_day VALUES(1793491200,'biology','direct_contr','3793419911228932','2504807031228932','154374680264');
INSERT INTO contributions_by_day VALUES(1793491200,'biology','shapley_rate','2099782104336271','811169224336271','108180200759');
INSERT INTO contributions_by_day VALUES(1793491200,'commons','direct_contr','0','0','0');
INSERT INTO contributions_by_day VALUES(1793491200,'commons','shapley_rate','0','0','0');
INSERT INTO contributions_by_day VALUES(1793491200,'guests','direct_contr','0','-89866800000000','0');
INSERT INTO contributions_by_day VALUES(1793491200,'guests','shapley_rate','63235256691420','-26631543308580','4672749480');
INSERT INTO contributions_by_day VALUES(1793491200,'library','direct_contr','327778780000000','-464041216000000','31220000000');
INSERT INTO contributions_by_day VALUES(1793491200,'library','shapley_rate','503001412945357','-288818583054643','33491470492');
INSERT INTO contributions_by_day VALUES(1793491200,'physics','direct_contr','5305491384771068','-1950899015228932','296757319736');
INSERT INTO contributions_by_day VALUES(1793491200,'physics','shapley_rate','6760671302026952','-495719097973048','336007579269');
CREATE TRIGGER events_are_not_updated BEFORE UPDATE ON event_rows
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON event_rows
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;
CREATE TRIGGER event_nodes_are_not_updated BEFORE UPDATE ON event_nodes
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER event_nodes_are_not_deleted BEFORE DELETE ON event_nodes
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;
CREATE TRIGGER event_jobs_are_not_updated BEFORE UPDATE ON event_jobs
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER event_jobs_are_not_deleted BEFORE DELETE ON event_jobs
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;
CREATE TRIGGER event_texts_are_not_updated BEFORE UPDATE ON event_texts
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER event_texts_are_not_deleted BEFORE DELETE ON event_texts
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;
CREATE TRIGGER words_are_not_updated BEFORE UPDATE ON words
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never edited'); END;
CREATE TRIGGER words_are_not_deleted BEFORE DELETE ON words
BEGIN SELECT RAISE(ABORT, 'events are append-only: a fact is never deleted'); END;
CREATE TRIGGER identity_is_not_updated BEFORE UPDATE ON identity WHEN EXISTS (SELECT 1 FROM event_rows)
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its identity'); END;
CREATE TRIGGER genesis_is_not_updated BEFORE UPDATE ON genesis
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its begin'); END;
CREATE TRIGGER genesis_is_not_deleted BEFORE DELETE ON genesis
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its begin'); END;
CREATE INDEX open_segments ON segment_events(job) WHERE closed IS NULL AND retracted IS NULL;
CREATE INDEX jobs_by_submit ON event_jobs(submit);
CREATE INDEX jobs_by_array ON event_jobs(array_job) WHERE array_job IS NOT NULL;
CREATE INDEX jobs_by_het_job ON event_jobs(het_job) WHERE het_job IS NOT NULL;
CREATE VIEW segments AS
SELECT CASE s.kind WHEN 0 THEN 'run' ELSE 'wait' END                       AS kind,
       s.job                                                               AS job,
       s.anchor                                                            AS anchor,
       s.ordinal                                                           AS ordinal,
       (SELECT w.text FROM words w WHERE w.word = o.organization)          AS organization,
       o.at                                                                AS begin,       -- NULL: only the end is known
       c.at                                                                AS end,         -- NULL: still open
       o.processors                                                        AS processors,
       (SELECT w.text FROM words w WHERE w.word = c.reason)                AS reason,
       (SELECT w.text FROM words w WHERE w.word = c.job_state)             AS job_state,
       r.at                                                                AS retracted    -- it counts for nothing
FROM segment_events s
LEFT JOIN event_rows o ON o.seq = s.opened
LEFT JOIN event_rows c ON c.seq = s.closed
LEFT JOIN event_rows r ON r.seq = s.retracted
;
CREATE VIEW segment_nodes AS
SELECT CASE s.kind WHEN 0 THEN 'run' ELSE 'wait' END                       AS kind,
       s.job                                                               AS job,
       s.anchor                                                            AS anchor,
       s.ordinal                                                           AS ordinal,
       w.text                                                              AS node,
       n.processors                                                        AS processors,
       COALESCE(n.cpus, 0)                                                 AS cpus,
       COALESCE(n.memory, 0)                                               AS memory,      -- MiB
       COALESCE((SELECT g.text FROM words g WHERE g.word = n.gres), '')    AS gres         -- "gres/gpu=2,gres/license=1"
FROM segment_events s
JOIN event_nodes n ON n.seq = s.opened
JOIN words w ON w.word = n.node
;
CREATE VIEW jobs AS
SELECT j.job AS job,
       j.submit AS submit,
       COALESCE((SELECT c.organization FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.organization)) AS organization,
       j.array_job AS array_job,
       COALESCE((SELECT c.array_task FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                j.array_task) AS array_task,
       j.het_job AS het_job,
       j.user_id AS user_id,
       j.group_id AS group_id,
       COALESCE((SELECT c.account FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.account)) AS account,
       COALESCE((SELECT c.partition FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.partition)) AS partition,
       COALESCE((SELECT c.qos FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.qos)) AS qos,
       COALESCE((SELECT c.name FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                CASE typeof(j.name) WHEN 'integer' THEN (SELECT w.text FROM words w WHERE w.word = j.name) ELSE j.name END) AS name,
       COALESCE((SELECT c.wckey FROM job_changes c WHERE c.job = j.job AND c.submit = j.submit ORDER BY c.at DESC LIMIT 1),
                (SELECT w.text FROM words w WHERE w.word = j.wckey)) AS wckey
FROM event_jobs j;
CREATE VIEW balances AS
SELECT b.organization                                                     AS organization,
       datetime(b.at, 'unixepoch')                                        AS at_utc,
       ROUND(CAST(b.got AS REAL) / 1e6 / 3600, 3)                         AS got_core_hours,
       ROUND(CAST(d.given AS REAL) / 1e6 / 3600, 3)                       AS given_direct_core_hours,
       ROUND(CAST(r.given AS REAL) / 1e6 / 3600, 3)                       AS given_rate_core_hours,
       ROUND(CAST(d.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3) AS standing_direct_core_hours,
       ROUND(CAST(r.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3) AS standing_rate_core_hours,
       b.psi                                                              AS psi,
       d.phi                                                              AS phi_direct,
       r.phi                                                              AS phi_rate
FROM books_by_day b
LEFT JOIN contributions_by_day d ON d.day = b.day AND d.organization = b.organization AND d.estimator = 'direct_contr'
LEFT JOIN contributions_by_day r ON r.day = b.day AND r.organization = b.organization AND r.estimator = 'shapley_rate'
WHERE b.day = (SELECT MAX(day) FROM books_by_day)
ORDER BY b.organization;
CREATE VIEW balances_by_estimator AS
SELECT c.estimator                                                        AS estimator,
       b.organization                                                     AS organization,
       datetime(b.at, 'unixepoch')                                        AS at_utc,
       ROUND(CAST(b.got AS REAL) / 1e6 / 3600, 3)                         AS got_core_hours,
       ROUND(CAST(c.given AS REAL) / 1e6 / 3600, 3)                       AS given_core_hours,
       ROUND(CAST(c.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3) AS standing_core_hours,
       b.psi                                                              AS psi,
       c.phi                                                              AS phi
FROM books_by_day b
JOIN contributions_by_day c ON c.day = b.day AND c.organization = b.organization
WHERE b.day = (SELECT MAX(day) FROM books_by_day)
ORDER BY c.estimator, b.organization;
CREATE VIEW run_shares AS
WITH known(upto) AS (SELECT COALESCE((SELECT received FROM events ORDER BY seq DESC LIMIT 1), 0))
SELECT s.job                                                                AS job,
       s.anchor                                                             AS anchor,
       s.ordinal                                                            AS ordinal,
       s.organization                                                       AS organization,
       n.node                                                               AS node,
       COALESCE(o.organization, 'commons')                                  AS owner,
       MAX(s.begin, COALESCE(o.begin, s.begin))                             AS begin,
       MIN(COALESCE(s.end, k.upto), COALESCE(o.end, s.end, k.upto))         AS end,
       n.processors / 1e6 * COALESCE(o.parts_per_million, 1000000) / 1e6    AS processors
FROM segments s
JOIN known k
JOIN segment_nodes n ON n.kind = s.kind AND n.job = s.job AND n.anchor = s.anchor AND n.ordinal = s.ordinal
LEFT JOIN ownership o ON o.node = n.node AND o.begin < COALESCE(s.end, k.upto) AND (o.end IS NULL OR o.end > s.begin)
WHERE s.kind = 'run' AND s.retracted IS NULL AND s.begin < COALESCE(s.end, k.upto);
CREATE VIEW work_by_owner AS
SELECT organization,
       owner,
       SUM(processors * (end - begin))                    AS processor_seconds,
       ROUND(SUM(processors * (end - begin)) / 3600.0, 3) AS core_hours
FROM run_shares
GROUP BY organization, owner
ORDER BY organization, owner;
CREATE VIEW who_owes_whom AS
SELECT w.organization                                                        AS debtor,
       w.owner                                                               AS creditor,
       w.processor_seconds                                                   AS used_processor_seconds,
       COALESCE(r.processor_seconds, 0.0)                                    AS returned_processor_seconds,
       w.processor_seconds - COALESCE(r.processor_seconds, 0.0)              AS owed_processor_seconds,
       ROUND((w.processor_seconds - COALESCE(r.processor_seconds, 0.0)) / 3600.0, 3) AS owed_core_hours
FROM work_by_owner w
LEFT JOIN work_by_owner r ON r.organization = w.owner AND r.owner = w.organization
WHERE w.organization <> w.owner AND w.processor_seconds > COALESCE(r.processor_seconds, 0.0)
ORDER BY owed_processor_seconds DESC, debtor, creditor;
CREATE VIEW core_hours_by_month AS
WITH RECURSIVE pieces(organization, owner, processors, begin, upto, end) AS (
  SELECT organization, owner, processors, begin,
         MIN(end, CAST(strftime('%s', begin, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM run_shares
  UNION ALL
  SELECT organization, owner, processors, upto,
         MIN(end, CAST(strftime('%s', upto, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM pieces WHERE upto < end
),
sides(month, organization, got, given) AS (
  SELECT strftime('%Y-%m', begin, 'unixepoch'), organization, processors * (upto - begin) / 3600.0, 0.0 FROM pieces
  UNION ALL
  SELECT strftime('%Y-%m', begin, 'unixepoch'), owner, 0.0, processors * (upto - begin) / 3600.0 FROM pieces
)
SELECT month,
       organization,
       ROUND(SUM(got), 3)              AS got_core_hours,
       ROUND(SUM(given), 3)            AS given_core_hours,
       ROUND(SUM(given) - SUM(got), 3) AS difference
FROM sides
GROUP BY month, organization
ORDER BY month, organization;
CREATE VIEW job_segments AS
SELECT s.job                               AS job,
       s.kind                              AS kind,
       datetime(s.anchor, 'unixepoch')     AS anchor_utc,
       s.ordinal                           AS ordinal,
       s.organization                      AS organization,
       datetime(s.begin, 'unixepoch')      AS begin_utc,
       datetime(s.end, 'unixepoch')        AS end_utc,
       s.end - s.begin                     AS seconds,
       s.processors / 1e6                  AS processors,
       (SELECT group_concat(n.node || '=' || printf('%.12g', n.processors / 1e6), ' ') FROM segment_nodes n
        WHERE n.kind = s.kind AND n.job = s.job AND n.anchor = s.anchor AND n.ordinal = s.ordinal) AS nodes,
       s.reason                            AS reason,
       s.job_state                         AS job_state,
       datetime(s.retracted, 'unixepoch')  AS retracted_utc
FROM segments s
ORDER BY s.job, s.anchor, s.kind, s.ordinal;
CREATE VIEW configurations AS
SELECT t.seq AS seq, datetime(e.at, 'unixepoch') AS at_utc, json_extract(t.payload, '$.text') AS text
FROM event_texts t
JOIN event_rows e ON e.seq = t.seq
WHERE t.key >= 'configuration_loaded/' AND t.key < 'configuration_loaded0'
ORDER BY t.seq;
CREATE VIEW observation_gaps AS
SELECT t.seq                                                            AS seq,
       datetime(json_extract(t.payload, '$.begin'), 'unixepoch')        AS begin_utc,
       datetime(json_extract(t.payload, '$.end'), 'unixepoch')          AS end_utc,
       json_extract(t.payload, '$.end') - json_extract(t.payload, '$.begin') AS seconds,
       json_extract(t.payload, '$.cause')                               AS cause
FROM event_texts t
WHERE t.key >= 'observation_gap/' AND t.key < 'observation_gap0'
ORDER BY t.seq;
CREATE VIEW work_by_month AS
WITH RECURSIVE pieces(organization, owner, processors, begin, upto, end) AS (
  SELECT organization, owner, processors, begin,
         MIN(end, CAST(strftime('%s', begin, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM run_shares
  UNION ALL
  SELECT organization, owner, processors, upto,
         MIN(end, CAST(strftime('%s', upto, 'unixepoch', 'start of month', '+1 month') AS INTEGER)), end
  FROM pieces WHERE upto < end
)
SELECT strftime('%Y-%m', begin, 'unixepoch')                AS month,
       organization                                         AS organization,
       owner                                                AS owner,
       SUM(processors * (upto - begin))                     AS processor_seconds,
       ROUND(SUM(processors * (upto - begin)) / 3600.0, 3)  AS core_hours
FROM pieces
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;
CREATE VIEW amounts_by_month AS
WITH sides(month, organization, own, borrowed, lent) AS (
  SELECT month, organization,
         CASE WHEN organization = owner THEN processor_seconds ELSE 0.0 END,
         CASE WHEN organization = owner THEN 0.0 ELSE processor_seconds END, 0.0
  FROM work_by_month
  UNION ALL
  SELECT month, owner, 0.0, 0.0, processor_seconds FROM work_by_month WHERE organization <> owner
)
SELECT month                                         AS month,
       organization                                  AS organization,
       ROUND(SUM(own + borrowed) / 3600.0, 3)        AS got_core_hours_of_month,
       ROUND(SUM(own + lent) / 3600.0, 3)            AS given_core_hours_of_month_direct_contr,
       ROUND(SUM(lent - borrowed) / 3600.0, 3)       AS difference_core_hours_of_month_direct_contr,
       ROUND(SUM(own) / 3600.0, 3)                   AS own_core_hours_of_month,
       ROUND(SUM(lent) / 3600.0, 3)                  AS lent_core_hours_of_month,
       ROUND(SUM(borrowed) / 3600.0, 3)              AS borrowed_core_hours_of_month
FROM sides
GROUP BY month, organization
ORDER BY month, organization;
CREATE VIEW who_owes_whom_by_month AS
SELECT w.month                                                               AS month,
       w.organization                                                        AS debtor,
       w.owner                                                               AS creditor,
       ROUND(w.processor_seconds / 3600.0, 3)                                AS used_core_hours_of_month,
       ROUND(COALESCE(r.processor_seconds, 0.0) / 3600.0, 3)                 AS returned_core_hours_of_month,
       ROUND((w.processor_seconds - COALESCE(r.processor_seconds, 0.0)) / 3600.0, 3) AS owed_core_hours_of_month
FROM work_by_month w
LEFT JOIN work_by_month r ON r.month = w.month AND r.organization = w.owner AND r.owner = w.organization
WHERE w.organization <> w.owner AND w.processor_seconds > COALESCE(r.processor_seconds, 0.0)
ORDER BY w.month, owed_core_hours_of_month DESC, debtor, creditor;
CREATE VIEW standings_by_month AS
SELECT strftime('%Y-%m', b.day, 'unixepoch')                              AS month,
       b.organization                                                     AS organization,
       c.estimator                                                        AS estimator,
       datetime(b.at, 'unixepoch')                                        AS at_utc,
       datetime(b.period_begin, 'unixepoch')                              AS period_begin_utc,
       ROUND(CAST(b.got AS REAL) / 1e6 / 3600, 3)                         AS got_core_hours_of_period_so_far,
       ROUND(CAST(c.given AS REAL) / 1e6 / 3600, 3)                       AS given_core_hours_of_period_so_far,
       ROUND(CAST(c.balance AS REAL) / 1e6 / NULLIF(b.at - b.period_begin, 0) / 3600, 3)
                                                                          AS standing_core_hours_on_average_of_period
FROM books_by_day b
JOIN contributions_by_day c ON c.day = b.day AND c.organization = b.organization
WHERE b.day IN (SELECT MAX(day) FROM books_by_day GROUP BY strftime('%Y-%m', day, 'unixepoch'))
ORDER BY 1, 3, 2;
CREATE VIEW adjustments AS
SELECT json_extract(t.payload, '$.number')                    AS number,
       datetime(json_extract(t.payload, '$.at'), 'unixepoch') AS at_utc,
       json_extract(t.payload, '$.kind')                      AS kind,
       json_extract(t.payload, '$.what')                      AS what,
       json_extract(t.payload, '$.into')                      AS into_organization,
       json_extract(t.payload, '$.runs')                      AS runs,
       json_extract(t.payload, '$.author')                    AS author,
       json_extract(t.payload, '$.reason')                    AS reason,
       NULLIF(json_extract(t.payload, '$.reverses'), 0)       AS reverses,
       t.seq                                                  AS seq,
       t.seq + 1                                              AS first_fact,
       t.seq + json_extract(t.payload, '$.facts')             AS last_fact
FROM event_texts t
WHERE t.key >= 'adjustment_made/' AND t.key < 'adjustment_made0'
ORDER BY t.seq;
CREATE VIEW state_losses AS
SELECT t.seq                                                    AS seq,
       datetime(json_extract(t.payload, '$.at'), 'unixepoch')   AS at_utc,
       datetime(json_extract(t.payload, '$.seen'), 'unixepoch') AS seen_utc,
       json_extract(t.payload, '$.closed')                      AS closed,
       json_extract(t.payload, '$.closed_seconds')              AS closed_processor_seconds,
       json_extract(t.payload, '$.retracted')                   AS retracted,
       json_extract(t.payload, '$.retracted_seconds')           AS retracted_processor_seconds
FROM event_texts t
WHERE t.key >= 'state_lost/' AND t.key < 'state_lost0'
ORDER BY t.seq;
CREATE VIEW clusters AS
SELECT t.seq                                                  AS seq,
       datetime(json_extract(t.payload, '$.at'), 'unixepoch') AS at_utc,
       json_extract(t.payload, '$.cluster')                   AS cluster,
       json_extract(t.payload, '$.author')                    AS author,
       json_extract(t.payload, '$.reason')                    AS reason
FROM event_texts t
WHERE t.key >= 'cluster_named/' AND t.key < 'cluster_named0'
ORDER BY t.seq;
CREATE TRIGGER identity_is_not_deleted BEFORE DELETE ON identity
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its identity'); END;
CREATE VIEW events AS
SELECT e.seq AS seq,
       CASE e.kind
       WHEN 0 THEN (SELECT t.key FROM event_texts t WHERE t.seq = e.seq)
       WHEN 1 THEN 'job_described/' || e.job || '/' || e.at
       ELSE CASE WHEN e.kind < 4 THEN 'segment_opened' WHEN e.kind < 6 THEN 'segment_closed'
                 WHEN e.kind < 8 THEN 'segment_retracted' END ||
            CASE e.kind & 1 WHEN 0 THEN '/run/' ELSE '/wait/' END || e.job || '/' || e.anchor || '/' || e.ordinal
       END AS key,
       e.at AS at,
       e.received AS received,
       CASE WHEN e.kind = 0 THEN (SELECT t.kind FROM event_texts t WHERE t.seq = e.seq)
            WHEN e.kind < 2 THEN 'job_described' WHEN e.kind < 4 THEN 'segment_opened'
            WHEN e.kind < 6 THEN 'segment_closed' WHEN e.kind < 8 THEN 'segment_retracted' END AS kind,
       CASE
       WHEN e.kind = 0 THEN (SELECT t.payload FROM event_texts t WHERE t.seq = e.seq)
       WHEN e.kind = 1 THEN (
         SELECT '{"account":' || (SELECT json FROM words WHERE word = j.account) ||
                ',"array_job":' || COALESCE(j.array_job, 0) ||
                ',"array_task":' || COALESCE(j.array_task, 'null') ||
                ',"group_id":' || j.group_id ||
                ',"het_job":' || COALESCE(j.het_job, 0) ||
                ',"job":' || e.job ||
                ',"name":' || CASE typeof(j.name) WHEN 'integer' THEN (SELECT json FROM words WHERE word = j.name)
                              ELSE '"' || j.name || '"' END ||
                ',"organization":' || (SELECT json FROM words WHERE word = j.organization) ||
                ',"partition":' || (SELECT json FROM words WHERE word = j.partition) ||
                ',"qos":' || (SELECT json FROM words WHERE word = j.qos) ||
                ',"submit":' || e.at ||
                ',"user_id":' || j.user_id ||
                ',"wckey":' || (SELECT json FROM words WHERE word = j.wckey) || '}'
         FROM event_jobs j WHERE j.job = e.job AND j.submit = e.at AND j.seq = e.seq)
       WHEN e.kind < 4 THEN
         '{"anchor":' || e.anchor || ',"begin":' || e.at || ',"job":' || e.job ||
         CASE e.kind WHEN 2 THEN ',"kind":"run","nodes":[' ELSE ',"kind":"wait","nodes":[' END ||
         COALESCE((SELECT group_concat(share) FROM (
           SELECT '{' || COALESCE('"cpus":' || n.cpus || ',', '') ||
                  CASE WHEN n.gres IS NULL THEN '' ELSE '"gres":' || (SELECT json FROM words WHERE word = n.gres) || ',' END ||
                  COALESCE('"memory":' || n.memory || ',', '') ||
                  '"node":' || (SELECT json FROM words WHERE word = n.node) ||
                  ',"processors":' || n.processors || '}' AS share
           FROM event_nodes n WHERE n.seq = e.seq ORDER BY n.position)), '') ||
         '],"ordinal":' || e.ordinal ||
         ',"organization":' || (SELECT json FROM words WHERE word = e.organization) ||
         CASE WHEN e.placement IS NULL THEN '' ELSE
           ',"placement":' || (SELECT json FROM words WHERE word = e.placement) END ||
         ',"processors":' || e.processors ||
         COALESCE(',"released":' || e.released, '') || COALESCE(',"tasks":' || e.tasks, '') ||
         COALESCE(',"waited_as":' || e.waited_as, '') || '}'
       WHEN e.kind < 6 THEN
         '{"anchor":' || e.anchor || ',"end":' || e.at || ',"job":' || e.job ||
         ',"job_state":' || (SELECT json FROM words WHERE word = e.job_state) ||
         CASE e.kind WHEN 4 THEN ',"kind":"run","ordinal":' ELSE ',"kind":"wait","ordinal":' END || e.ordinal ||
         ',"reason":' || (SELECT json FROM words WHERE word = e.reason) || '}'
       WHEN e.kind < 8 THEN
         '{"anchor":' || e.anchor || ',"at":' || e.at || ',"job":' || e.job ||
         CASE e.kind WHEN 6 THEN ',"kind":"run","ordinal":' ELSE ',"kind":"wait","ordinal":' END || e.ordinal || '}'
       END AS payload,
       e.hash AS hash
FROM event_rows e;
COMMIT;
